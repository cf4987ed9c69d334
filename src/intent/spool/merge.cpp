// SPDX-License-Identifier: Apache-2.0
#include "intent/spool/merge.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <set>

#include "core/error.hpp"
#include "intent/spool/merge_parts.hpp"

namespace tailrace::intent::spool {
namespace {

/// A file on its way into the profile: what each process says of it.
struct Gathered {
    std::vector<Part<DecodedFile>> files;  ///< of all hooks
    std::vector<Part<DecodedFile>> hdf5;   ///< of the connector
    std::map<std::string, std::vector<Part<DecodedDataset>>> datasets;
    std::vector<std::string> order;  ///< of the datasets, as they were met
};

std::string shell_words(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        const bool plain = !word.empty() &&
                           word.find_first_of(" \t\n'\"\\$`;&|<>()*?[]{}!#~") == std::string::npos;
        if (!line.empty()) line += ' ';
        line += plain ? word : "'" + word + "'";
    }
    return line;
}

std::string iso_time(std::int64_t wall_ns) {
    const std::time_t at = wall_ns / 1'000'000'000;
    std::tm parts{};
    if (gmtime_r(&at, &parts) == nullptr) return {};
    char text[64];
    const std::size_t bytes = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text, bytes};
}

std::string system_name(std::int64_t type) {
    static const std::map<std::int64_t, std::string> names = {
        {0xEF53, "ext4"},      {0x01021994, "tmpfs"},   {0x58465342, "xfs"},
        {0x9123683E, "btrfs"}, {0x6969, "nfs"},         {0x0BD00BD0, "lustre"},
        {0x47504653, "gpfs"},  {0x794c7630, "overlay"}, {0xFE534D42, "smb2"},
        {0x65735546, "fuse"},  {0x19830326, "beegfs"},  {0x2FC12FC1, "zfs"},
        {0x00C36400, "ceph"},  {0x858458f6, "ramfs"},
    };
    const auto found = names.find(type & 0xffffffff);
    return found != names.end() ? found->second
                                : "type " + hexadecimal(static_cast<std::uint64_t>(type));
}

constexpr const char* kind_names[kinds] = {"",
                                           "texts",
                                           "libraries",
                                           "files",
                                           "file_names",
                                           "datasets",
                                           "dataset_names",
                                           "transfers",
                                           "shapes",
                                           "places",
                                           "settings",
                                           "filters",
                                           "extents",
                                           "calls",
                                           "outcomes",
                                           nullptr,
                                           "mpiio",
                                           "hints",
                                           "views",
                                           "posix",
                                           "declarations",
                                           "delivered",
                                           "unnamed",
                                           "unnamed_of_ranks"};

void count_dropped(const Spool& spool, Counts& dropped) {
    for (std::size_t kind = 1; kind < kinds; ++kind) {
        const std::uint64_t count = spool.header.dropped[kind];
        if (count > 0 && kind_names[kind] != nullptr) dropped[kind_names[kind]] += count;
    }
}

/// Which HDF5 has no connectors that serve us, in how many processes, and what is left to do.
void note_older_libraries(const std::vector<NamedSpool>& spools, std::vector<std::string>& notes) {
    std::map<std::string, std::size_t> older;
    for (const NamedSpool& one : spools) {
        for (const DecodedLibrary& library : one.spool.libraries) {
            if (library.version.starts_with("1.12.")) ++older[library.version];
        }
    }
    for (const auto& [version, processes] : older) {
        notes.push_back("HDF5 " + version + " (in " + std::to_string(processes) +
                        (processes == 1 ? " process" : " processes") +
                        ") is older than 1.14 and was not recorded: what it did to its files is "
                        "seen as MPI-IO and system calls only (--layers mpiio,posix)");
    }
}

Process process(const Spool& spool, const Member& member) {
    Process made;
    made.id = member.id;
    if (spool.header.rank >= 0) made.rank = static_cast<std::uint64_t>(spool.header.rank);
    made.pid = spool.header.pid;
    made.parent_pid = spool.header.parent_pid;
    made.host = spool.host;
    if (!spool.program.empty()) made.program = spool.program;
    std::set<std::string> versions;
    for (const DecodedLibrary& library : spool.libraries) versions.insert(library.version);
    for (const std::string& version : versions) {
        made.hdf5_version = made.hdf5_version ? *made.hdf5_version + ", " + version : version;
    }
    if (!spool.mpi.empty()) made.mpi_version = spool.mpi;
    made.start_s = member.start_s;
    made.end_s = member.start_s + seconds(spool.header.last_ns);
    return made;
}

/// What another hook noted down of a process that is there already.
void add_to(Process& known, const Process& more) {
    if (!known.hdf5_version) known.hdf5_version = more.hdf5_version;
    if (!known.mpi_version) known.mpi_version = more.mpi_version;
    known.start_s = std::min(known.start_s, more.start_s);
    known.end_s = std::max(known.end_s, more.end_s);
}

void describe_run(const std::vector<NamedSpool>& spools, Run& run) {
    std::set<std::string> hosts;
    double end_s = 0;
    for (const NamedSpool& one : spools) {
        const Header& header = one.spool.header;
        hosts.insert(one.spool.host);
        if (header.ranks > 0) run.ranks = static_cast<std::uint64_t>(header.ranks);
        if (header.node_memory_bytes > 0) {
            run.node_memory_bytes = std::min(
                run.node_memory_bytes.value_or(header.node_memory_bytes), header.node_memory_bytes);
        }
    }
    for (const Process& one : run.processes) end_s = std::max(end_s, one.end_s.value_or(0));
    if (!spools.empty()) {
        run.elapsed_s = end_s;
        run.nodes = hosts.size();
        if (!run.ranks) run.ranks = 1;
    }
}

void gather(const Spool& spool, const Member& member, std::map<std::string, Gathered>& files) {
    for (const auto& [offset, file] : spool.files) {
        Gathered& of = files[file.path];
        of.files.push_back({member, &file});
        if ((spool.header.hooks & hook_hdf5) != 0) of.hdf5.push_back({member, &file});
    }
    for (const auto& [offset, dataset] : spool.datasets) {
        if (dataset.path.empty())
            continue;  // made without a name, never given one: nobody finds it
        Gathered& in = files[spool.files.at(dataset.record.file).path];
        auto& parts = in.datasets[dataset.path];
        if (parts.empty()) in.order.push_back(dataset.path);
        parts.push_back({member, &dataset});
    }
}

bool used(const MpiioRecord& record) {
    std::uint64_t calls = record.collective_opens + record.independent_opens + record.closes;
    for (const MpiioTransfersRecord& transfers : record.transfers)
        for (const std::uint64_t count : transfers.counts) calls += count;
    return calls > 0;
}

bool used(const PosixRecord& record) {
    std::uint64_t calls = record.opens + record.closes + record.maps;
    for (const PosixTransfersRecord& transfers : record.transfers) calls += transfers.calls;
    return calls > 0;
}

/// Whether a process had the file open: who only tried to, or deletes it, is none of its users. A
/// fork uses what its parent has opened.
bool used(const DecodedFile& file) {
    const FileRecord& record = file.record;
    const std::uint64_t calls =
        record.opens + record.closes + record.transfer_order.calls + record.access_order.calls;
    return calls > 0 || (file.mpiio && used(file.mpiio->record)) ||
           (file.posix && used(*file.posix)) || (file.stream && used(*file.stream));
}

/// The processes that used the file; where none did, all that wanted to.
ProcessSet users(const std::vector<Part<DecodedFile>>& parts) {
    ProcessSet all, of_them;
    for (const auto& part : parts) {
        all.add(part.member.id);
        if (used(*part.record)) of_them.add(part.member.id);
    }
    return of_them.empty() ? all : of_them;
}

/// Of a file that is still the one that was opened. Some file systems give it blocks later.
Count stored_bytes(const std::string& path, const std::vector<Part<DecodedFile>>& parts) {
    struct stat now {};
    if (::stat(path.c_str(), &now) != 0 || !S_ISREG(now.st_mode)) return {};
    for (const auto& part : parts) {
        const std::uint64_t then = part.record->record.inode;
        if (then != 0 && then != now.st_ino) return {};
    }
    const auto size = static_cast<std::uint64_t>(now.st_size);
    constexpr std::uint64_t block = 512;  // of stat, whatever the file system has
    const auto given = static_cast<std::uint64_t>(now.st_blocks) * block;
    return given > 0 ? std::min(size, given) : size;
}

/// Whether nobody in the run has opened a file that is only written: it was given by whoever
/// started the run, for what is printed.
bool is_printed_to(const File& file) {
    if (file.hdf5 || file.mpiio || file.pnetcdf || !file.datasets.empty()) return false;
    bool written = false;
    for (const auto* layer : {&file.posix, &file.stdio}) {
        if (!*layer) continue;
        const PosixFile& seen = **layer;
        for (const Count& count : {seen.opens, seen.failed_opens, seen.maps})
            if (count.value_or(0) > 0) return false;
        if (seen.reads) return false;
        written = written || seen.writes;
    }
    return written;
}

/// Nothing went from rank to rank, nor was cut to pieces, below MPI-IO: counted; nothing where
/// places are not known.
Known written_as_asked(const std::optional<MpiioTransfers>& asked,
                       const std::optional<PosixTransfers>& wrote) {
    if (!asked || !wrote || asked->not_placed.value_or(0) > 0) return {};
    const auto same = [](const ByteRange& one, const ByteRange& other) {
        return one.process == other.process && one.bytes == other.bytes &&
               one.first_byte == other.first_byte && one.end_byte == other.end_byte;
    };
    return asked->bytes == wrote->bytes && asked->highest_byte == wrote->highest_byte &&
           std::ranges::equal(asked->ranges, wrote->ranges, same) &&
           wrote->calls.value_or(0) <= asked->placed.value_or(0);
}

File file(const std::string& path, const Gathered& from, std::vector<std::string>& notes) {
    File made;
    made.path = path;
    made.processes = users(from.files);
    std::set<std::string> names;
    for (const auto& part : from.files)
        names.insert(part.record->names.begin(), part.record->names.end());
    names.erase(path);
    made.names.assign(names.begin(), names.end());
    if (!from.hdf5.empty()) made.hdf5 = hdf5_file(from.hdf5);
    made.mpiio = mpiio_file(from.files);
    made.pnetcdf = pnetcdf_file(from.files);
    made.posix = posix_file(from.files, &DecodedFile::posix);
    made.stdio = posix_file(from.files, &DecodedFile::stream);
    if (made.mpiio && made.posix)
        made.written_as_asked = written_as_asked(made.mpiio->writes, made.posix->writes);
    made.stored_bytes = stored_bytes(path, from.files);
    for (const std::string& name : from.order) {
        const auto& parts = from.datasets.at(name);
        made.datasets.push_back(dataset(name, parts));
        add_declared(made.datasets.back(), parts, notes);
    }
    add_declared(made, from.files, notes);
    return made;
}

void add_file_systems(const std::map<std::string, Gathered>& files, Run& run) {
    std::map<std::string, FileSystem> folders;
    for (const auto& [path, gathered] : files) {
        const std::string folder = std::filesystem::path(path).parent_path().string();
        for (const auto& part : gathered.files) {
            const FileRecord& record = part.record->record;
            if (record.system_magic == 0) continue;
            FileSystem& system = folders[folder];
            system.folder = folder;
            system.type = system_name(record.system_magic);
            if (record.block_bytes > 0) system.block_bytes = record.block_bytes;
        }
    }
    for (auto& [folder, system] : folders) run.file_systems.push_back(system);
}

/// Ranks in their order, then processes by their begin.
bool before(const NamedSpool& a, const NamedSpool& b) {
    const auto key = [](const NamedSpool& one) {
        const Header& header = one.spool.header;
        const int rank = header.rank >= 0 ? header.rank : std::numeric_limits<int>::max();
        return std::tuple(rank, header.inherited, header.start_wall_ns, one.path);
    };
    return key(a) < key(b);
}

void note_dropped(Origin& origin) {
    constexpr std::pair<const char*, const char*> reasons[] = {
        {"unnamed",
         " datasets that were opened without a name, as by references, are left out: to find "
         "their names among the links of the file took too long. Opened by name they are kept"},
        {"unnamed_of_ranks",
         " datasets that were opened without a name, as by references, are left out: the file has "
         "collective metadata reads (H5Pset_all_coll_metadata_ops), so that all ranks would have "
         "to look for their names together. Opened by name they are kept"},
        {"declarations",
         " declarations were not kept: of a file or dataset at most 16 different ones are, each "
         "of at most 65536 bytes, while there is room (TAILRACE_PROFILE_MIB)"}};
    std::size_t told = 0;
    for (const auto& [what, why] : reasons) {
        const auto found = origin.dropped.find(what);
        if (found == origin.dropped.end()) continue;
        ++told;
        origin.notes.push_back(std::to_string(found->second) + why);
    }
    if (origin.dropped.size() > told)
        origin.notes.emplace_back(
            "not everything found room; TAILRACE_PROFILE_MIB raises the bound (the disk may also "
            "have been full)");
}

}  // namespace

std::pair<std::uint64_t, bool> ProcessIds::of(const Spool& spool) {
    for (Known& one : x_known[{spool.host, spool.header.pid}]) {
        if (one.program != spool.program || (one.hooks & spool.header.hooks) != 0) continue;
        one.hooks |= spool.header.hooks;
        return {one.id, false};
    }
    x_known[{spool.host, spool.header.pid}].push_back({spool.program, spool.header.hooks, x_next});
    return {x_next++, true};
}

Profile merge(std::vector<NamedSpool> spools, const std::string& command) {
    std::sort(spools.begin(), spools.end(), before);
    Profile profile;
    profile.origin.kind = OriginKind::hook;
    profile.origin.command = command;
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
    for (const NamedSpool& one : spools) {
        start_ns = std::min(start_ns, one.spool.header.start_wall_ns);
    }
    std::map<std::string, Gathered> files;
    std::vector<Part<Spool>> members;
    ProcessIds ids;
    for (const NamedSpool& one : spools) {
        const auto [id, is_new] = ids.of(one.spool);
        const Member member{id, seconds(one.spool.header.start_wall_ns - start_ns)};
        const Process made = process(one.spool, member);
        if (is_new) {
            profile.run.processes.push_back(made);
        } else {
            add_to(profile.run.processes[id], made);
        }
        profile.origin.sources.push_back({one.path, "spool", "", {}});
        count_dropped(one.spool, profile.origin.dropped);
        gather(one.spool, member, files);
        members.push_back({member, &one.spool});
    }
    if (!spools.empty()) {
        profile.origin.start = iso_time(start_ns);
        profile.origin.version = spools.front().spool.tailrace_version;
        if (command.empty()) profile.origin.command = shell_words(spools.front().spool.command);
    }
    note_older_libraries(spools, profile.origin.notes);
    note_dropped(profile.origin);
    describe_run(spools, profile.run);
    add_file_systems(files, profile.run);
    for (const auto& [path, gathered] : files) {
        profile.files.push_back(file(path, gathered, profile.origin.notes));
        if (is_printed_to(profile.files.back())) profile.files.pop_back();
    }
    add_declared(profile, members);
    return profile;
}

std::vector<NamedSpool> read_folder(const std::filesystem::path& folder,
                                    std::vector<std::string>& notes) {
    std::error_code failure;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
        if (entry.path().extension() == ".spool") paths.push_back(entry.path());
    }
    if (failure) {
        throw core::Error(core::Code::no_such_directory, failure.message(), folder.string(),
                          "it is the folder that TAILRACE_PROFILE_DIR named");
    }
    std::sort(paths.begin(), paths.end());
    std::vector<NamedSpool> spools;
    for (const auto& path : paths) {
        try {
            spools.push_back({path.string(), read_spool(path)});
        } catch (const core::Error& error) {
            notes.push_back("left out: " + path.string() + ": " + error.message());
        }
    }
    std::sort(spools.begin(), spools.end(), before);
    return spools;
}

Profile merge_folder(const std::filesystem::path& folder, const std::string& command) {
    std::vector<std::string> notes;
    Profile profile = merge(read_folder(folder, notes), command);
    profile.origin.notes.insert(profile.origin.notes.end(), notes.begin(), notes.end());
    return profile;
}

}  // namespace tailrace::intent::spool
