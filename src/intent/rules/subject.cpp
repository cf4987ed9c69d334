// SPDX-License-Identifier: Apache-2.0
#include "intent/rules/subject.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "intent/intents/creation.hpp"
#include "intent/plan/functions.hpp"
#include "intent/plan/unasked_caches.hpp"
#include "intent/rules/words.hpp"

namespace tailrace::intent::rules {

namespace {

bool known(const Count& count) { return count && *count > 0; }

/// "1.14.6" of "1.14.6, 2.2.0": the first, which with several libraries is not the only one.
std::pair<int, int> parsed(const std::string& version) {
    const std::size_t dot = version.find('.');
    if (dot == std::string::npos) return {0, 0};
    return {std::atoi(version.c_str()), std::atoi(version.c_str() + dot + 1)};
}

std::uint64_t posix_bytes(const File& file, const std::optional<PosixTransfers> PosixFile::*side) {
    if (!file.posix || !((*file.posix).*side)) return 0;
    return ((*file.posix).*side)->bytes.value_or(0);
}

}  // namespace

std::uint64_t ranks(const Subject& s) {
    return std::max<std::uint64_t>(s.profile.run.ranks.value_or(1), 1);
}

std::optional<std::uint64_t> known_nodes(const Subject& s) {
    if (s.profile.run.nodes) return std::max<std::uint64_t>(*s.profile.run.nodes, 1);
    // A Darshan log may know the hosts of a part of the ranks only.
    std::set<std::string> hosts;
    std::uint64_t with_host = 0;
    for (const Process& process : s.profile.run.processes) {
        if (!process.host) continue;
        ++with_host;
        hosts.insert(*process.host);
    }
    if (with_host < ranks(s) || with_host < s.profile.run.processes.size()) return std::nullopt;
    return hosts.size();
}

std::uint64_t nodes(const Subject& s) { return known_nodes(s).value_or(1); }

std::string on_nodes(const Subject& s) {
    const auto known = known_nodes(s);
    if (!known) return "";
    return " on " + counted(*known, "node");
}

std::uint64_t ranks_per_node(const Subject& s) {
    const std::uint64_t processes =
        std::max<std::uint64_t>(ranks(s), s.profile.run.processes.size());
    return (processes + nodes(s) - 1) / nodes(s);
}

std::uint64_t memory_of_process(const Subject& s) {
    if (!known(s.profile.run.node_memory_bytes)) return 256U << 20U;
    return *s.profile.run.node_memory_bytes / 4 / ranks_per_node(s);
}

std::pair<int, int> hdf5_version(const Subject& s) {
    std::pair<int, int> oldest{0, 0};
    for (const Process& process : s.profile.run.processes) {
        if (!process.hdf5_version) continue;
        const auto version = parsed(*process.hdf5_version);
        if (oldest.first == 0 || (version.first > 0 && version < oldest)) oldest = version;
    }
    return oldest;
}

MpiIo mpi_io(const Subject& s) {
    if (!s.file.mpiio) return MpiIo::not_known;
    if (const auto& seen = s.file.mpiio->implementation)
        return *seen == "OMPIO" ? MpiIo::ompio : MpiIo::romio;
    for (const auto& [name, value] : s.file.mpiio->hints_in_force) {
        if (name.rfind("romio_", 0) == 0) return MpiIo::romio;
        if (name.rfind("ompio", 0) == 0) return MpiIo::ompio;
    }
    return MpiIo::not_known;
}

std::uint64_t file_ranks(const Subject& s) {
    if (s.file.hdf5 && known(s.file.hdf5->communicator_size))
        return *s.file.hdf5->communicator_size;
    if (s.file.mpiio && known(s.file.mpiio->communicator_size))
        return *s.file.mpiio->communicator_size;
    const bool together =
        parallel(s) || uses_pnetcdf(s) || (s.file.mpiio && known(s.file.mpiio->collective_opens));
    return together ? std::max<std::uint64_t>(s.file.processes.size(), 1) : 1;
}

bool parallel(const Subject& s) {
    if (!s.file.hdf5) return false;
    return s.file.hdf5->mpio.value_or(s.file.hdf5->driver.value_or("") == "mpio");
}

namespace {

Statement creation(const Subject& s, const Dataset* dataset) {
    Statement found;
    if (dataset != nullptr && dataset->creates) {
        found.value = known(dataset->creates) ? "yes" : "no";
        found.confidence = Confidence::high;
        return found;
    }
    // Nothing tells of the variables of PnetCDF, and all datasets of a new HDF5 file are new.
    if (dataset != nullptr && dataset->interface != Interface::hdf5) return found;
    return created_of(s.file);
}

bool is_yes(const Statement& found) {
    return found.value == "yes" && found.confidence != Confidence::low;
}

/// Where nobody counted calls on structure: what the datasets that were seen came to, at least.
std::uint64_t structure_of_datasets(const Subject& s, Count Operations::*sort) {
    const bool made = is_yes(created_of(s.file));
    if (sort == &Operations::create) return made ? s.file.datasets.size() : 0;
    if (sort != &Operations::open) return 0;
    std::uint64_t opens = 0;
    for (const Dataset& dataset : s.file.datasets) {
        const std::uint64_t all = dataset.opens.value_or(0);
        opens += all - std::min(all, made ? callers(s) : 0);
    }
    return opens;
}

}  // namespace

Statement creation(const Subject& s) { return creation(s, s.dataset); }

bool created(const Subject& s) { return is_yes(creation(s)); }

bool created(const Subject& s, const Dataset& dataset) { return is_yes(creation(s, &dataset)); }

std::string fs_type(const Subject& s) {
    if (s.file.lustre) return "lustre";
    const FileSystem* best = nullptr;
    for (const FileSystem& system : s.profile.run.file_systems) {
        const std::string folder = system.folder == "/" ? "" : system.folder;
        if (s.file.path.rfind(folder + "/", 0) != 0) continue;
        if (best == nullptr || system.folder.size() > best->folder.size()) best = &system;
    }
    return best == nullptr ? "" : best->type;
}

bool parallel_fs(const Subject& s) {
    constexpr std::array<std::string_view, 8> types{"lustre",   "gpfs",   "beegfs", "panfs",
                                                    "orangefs", "cephfs", "ceph",   "daos"};
    return std::find(types.begin(), types.end(), fs_type(s)) != types.end();
}

Count fs_stripe(const Subject& s) {
    if (s.file.lustre && known(s.file.lustre->stripe_bytes)) return s.file.lustre->stripe_bytes;
    // A Darshan log without its module of Lustre has what it takes for the stripe as alignment.
    return fs_type(s) == "lustre" && s.file.posix ? s.file.posix->file_alignment_bytes
                                                  : std::nullopt;
}

Count fs_block(const Subject& s) {
    if (s.file.lustre && known(s.file.lustre->stripe_bytes)) return s.file.lustre->stripe_bytes;
    if (s.file.posix && known(s.file.posix->file_alignment_bytes))
        return s.file.posix->file_alignment_bytes;
    const FileSystem* best = nullptr;
    for (const FileSystem& system : s.profile.run.file_systems) {
        const std::string folder = system.folder == "/" ? "" : system.folder;
        if (!known(system.block_bytes) || s.file.path.rfind(folder + "/", 0) != 0) continue;
        if (best == nullptr || system.folder.size() > best->folder.size()) best = &system;
    }
    return best == nullptr ? std::nullopt : best->block_bytes;
}

std::uint64_t bytes_written(const Subject& s) {
    std::uint64_t bytes = 0;
    for (const Dataset& dataset : s.file.datasets) bytes += moved_bytes(dataset.writes);
    if (s.file.mpiio && s.file.mpiio->writes)
        bytes = std::max(bytes, s.file.mpiio->writes->bytes.value_or(0));
    if (s.file.pnetcdf) bytes = std::max(bytes, s.file.pnetcdf->bytes_written.value_or(0));
    return std::max(bytes, posix_bytes(s.file, &PosixFile::writes));
}

std::uint64_t bytes_read(const Subject& s) {
    std::uint64_t bytes = 0;
    for (const Dataset& dataset : s.file.datasets) bytes += moved_bytes(dataset.reads);
    if (s.file.mpiio && s.file.mpiio->reads)
        bytes = std::max(bytes, s.file.mpiio->reads->bytes.value_or(0));
    return std::max(bytes, posix_bytes(s.file, &PosixFile::reads));
}

std::uint64_t bytes_at_end(const Subject& s) {
    Count end;
    const auto take = [&end](const auto& layer) {
        if (layer && layer->writes && layer->writes->highest_byte)
            end = std::max(end.value_or(0), *layer->writes->highest_byte + 1);
    };
    take(s.file.mpiio);
    take(s.file.posix);
    if (s.file.mpiio && s.file.mpiio->size_bytes && bytes_written(s) > 0)
        end = std::max(end.value_or(0), *s.file.mpiio->size_bytes);
    if (s.file.touched_bytes && bytes_written(s) > 0)
        end = std::max(end.value_or(0), *s.file.touched_bytes);
    if (end) return *end;
    if (s.file.datasets.empty()) return bytes_written(s);
    std::uint64_t bytes = plan::times(metadata(s, "", &Operations::create), 512);
    for (const Dataset& dataset : s.file.datasets) {
        const std::uint64_t moved = moved_bytes(dataset.writes);
        if (dataset.filters.empty()) bytes += std::min(moved, size_bytes(dataset).value_or(moved));
    }
    return bytes;
}

std::uint64_t callers(const Subject& s) {
    return parallel(s) ? std::max<std::uint64_t>(file_ranks(s), 1) : 1;
}

std::uint64_t metadata(const Subject& s, const std::string& kind, Count Operations::*sort) {
    if (!s.file.hdf5) return 0;
    if (!s.file.hdf5->creates && s.file.hdf5->metadata.empty())
        return kind.empty() || kind == "dataset" ? structure_of_datasets(s, sort) : 0;
    // HDF5 has all ranks of a file make the call that creates an object, and each of them counts.
    const std::uint64_t times = sort == &Operations::create ? callers(s) : 1;
    std::uint64_t operations = 0;
    for (const auto& [name, one] : s.file.hdf5->metadata)
        if (kind.empty() || name == kind)
            operations += ((one.*sort).value_or(0) + times - 1) / times;
    return operations;
}

std::uint64_t metadata(const Subject& s) {
    std::uint64_t operations = 0;
    for (const auto sort : {&Operations::create, &Operations::open, &Operations::read,
                            &Operations::write, &Operations::remove})
        operations += metadata(s, "", sort);
    return operations;
}

bool same_order(const Subject& s) { return s.file.hdf5 && s.file.hdf5->same_order.value_or(false); }

bool same_transfers(const Subject& s) {
    return s.file.hdf5 && s.file.hdf5->same_transfer_order.value_or(false);
}

bool same_accesses(const Subject& s) {
    return s.file.hdf5 && s.file.hdf5->same_access_order.value_or(false);
}

MpiioCalls mpiio_calls(const std::optional<MpiioTransfers>& one) {
    if (!one) return {};
    const std::uint64_t later = one->nonblocking_collective.value_or(0);
    const std::uint64_t nonblocking = one->nonblocking.value_or(0);
    return {one->independent.value_or(0) + nonblocking - std::min(nonblocking, later),
            one->collective.value_or(0) + one->split.value_or(0) + later};
}

std::uint64_t mpiio_calls(const Subject& s, bool collective) {
    if (!s.file.mpiio) return 0;
    const MpiioCalls reads = mpiio_calls(s.file.mpiio->reads);
    const MpiioCalls writes = mpiio_calls(s.file.mpiio->writes);
    return collective ? reads.together + writes.together : reads.alone + writes.alone;
}

bool uses_pnetcdf(const Subject& s) { return s.file.pnetcdf.has_value(); }

Count posix_write_bytes(const Subject& s) {
    if (!s.file.posix || !s.file.posix->writes) return std::nullopt;
    const PosixTransfers& writes = *s.file.posix->writes;
    if (!known(writes.calls) || !writes.bytes) return std::nullopt;
    return *writes.bytes / *writes.calls;
}

namespace {

/// The chunk cache is one that netCDF-C or PyTables asks for by itself.
bool unasked_cache(const Subject& s) {
    const auto number = [&s](const char* key) -> std::uint64_t {
        const auto found = value_asked_for(s, key);
        const auto* value = found ? std::get_if<std::uint64_t>(&*found) : nullptr;
        return value ? *value : 0;
    };
    const auto preemption = value_asked_for(s, "chunk_cache_preemption");
    if (!preemption) return false;
    const auto* fraction = std::get_if<double>(&*preemption);
    const std::uint64_t chunk = s.dataset ? chunk_bytes(*s.dataset).value_or(0) : 0;
    return plan::nobody_chose(
        {number("chunk_cache_slots"), number("chunk_cache_bytes"),
         fraction ? *fraction : static_cast<double>(number("chunk_cache_preemption"))},
        chunk);
}

}  // namespace

bool program_sets(const Subject& s, const std::string& key) {
    return program_value(s, key).has_value();
}

std::optional<Setting> value_asked_for(const Subject& s, const std::string& key) {
    if (s.dataset != nullptr) {
        const auto found = s.dataset->settings_of_program.find(key);
        if (found != s.dataset->settings_of_program.end()) return found->second;
    }
    if (s.file.hdf5) {
        const auto found = s.file.hdf5->settings_of_program.find(key);
        if (found != s.file.hdf5->settings_of_program.end()) return found->second;
    }
    constexpr std::string_view hint = "hint.";
    if (s.file.mpiio && key.rfind(hint, 0) == 0) {
        const auto found = s.file.mpiio->hints_given.find(key.substr(hint.size()));
        if (found != s.file.mpiio->hints_given.end()) return Setting(found->second);
    }
    return std::nullopt;
}

std::optional<Setting> program_value(const Subject& s, const std::string& key) {
    if (key.starts_with("chunk_cache_") && unasked_cache(s)) return std::nullopt;
    return value_asked_for(s, key);
}

}  // namespace tailrace::intent::rules
