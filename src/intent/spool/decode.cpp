// SPDX-License-Identifier: Apache-2.0
#include "intent/spool/decode.hpp"

#include <cstring>
#include <fstream>
#include <type_traits>

#include "core/error.hpp"
#include "intent/spool/readable.hpp"

namespace tailrace::intent::spool {
namespace {

using core::Code;
using core::Error;
using Bytes = std::span<const std::byte>;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t most_values = 1U << 20;

/// One record, read from its begin to its end.
class Reader {
public:
    Reader(Bytes record, std::uint64_t offset, const std::string& where)
        : x_left(record), x_offset(offset), x_where(where) {}

    template <typename Record>
    Record head() {
        static_assert(std::is_trivially_copyable_v<Record>);
        if (x_left.size() < sizeof(Record)) damaged("a record is too short");
        Record record;
        std::memcpy(&record, x_left.data(), sizeof record);
        x_left = x_left.subspan(sizeof record);
        return record;
    }
    template <typename Number = std::uint64_t>
    std::vector<Number> numbers(std::uint64_t count) {
        if (count > most_values || count * sizeof(Number) > x_left.size()) {
            damaged("numbers do not fit their record");
        }
        std::vector<Number> values(count);
        if (count > 0) std::memcpy(values.data(), x_left.data(), count * sizeof(Number));
        x_left = x_left.subspan(count * sizeof(Number));
        return values;
    }
    std::string text(std::uint64_t bytes) {
        if (bytes > x_left.size()) damaged("a text does not fit its record");
        const std::string_view value(reinterpret_cast<const char*>(x_left.data()), bytes);
        x_left = x_left.subspan(bytes);
        return readable(value);
    }
    std::uint32_t rank(std::uint32_t value) {
        if (value > most_dimensions) damaged("more dimensions than there can be");
        return value;
    }
    [[noreturn]] void damaged(const std::string& what) const {
        throw Error(Code::bad_input,
                    "the spool is damaged at byte " + std::to_string(x_offset) + ": " + what,
                    x_where, "leave this file out; the rest of the profile can be made without it");
    }

private:
    Bytes x_left;
    std::uint64_t x_offset;
    const std::string& x_where;
};

std::string text_of(const char* characters, std::size_t most) {
    return {characters, strnlen(characters, most)};
}

/// Puts records where they belong, in the order of the file.
class Decoder {
public:
    Decoder(Bytes bytes, const std::string& where) : x_bytes(bytes), x_where(where) {}

    Spool run() {
        read_header();
        std::uint64_t offset = header_bytes;
        while (offset < x_spool.header.used_bytes) offset += read_record(offset);
        return std::move(x_spool);
    }

private:
    void read_header() {
        if (x_bytes.size() < header_bytes) refuse("it is too short for one");
        Header& header = x_spool.header;
        std::memcpy(&header, x_bytes.data(), sizeof header);
        if (std::memcmp(header.magic, magic, sizeof magic) != 0) refuse("it does not begin as one");
        if (header.byte_order != byte_order) refuse("a machine of another byte order wrote it");
        if (header.version != version) {
            refuse("it has version " + std::to_string(header.version) + ", this program reads " +
                   std::to_string(version));
        }
        if (header.used_bytes < header_bytes || header.used_bytes > x_bytes.size() ||
            header.used_bytes % 8 != 0) {
            refuse("its length is " + std::to_string(x_bytes.size()) + " bytes, it says " +
                   std::to_string(header.used_bytes));
        }
        x_spool.host = text_of(header.host, sizeof header.host);
        x_spool.tailrace_version = text_of(header.tailrace_version, sizeof header.tailrace_version);
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(Code::bad_input, "this is no spool of tailrace: " + why, x_where,
                    "spools are made by `tailrace profile`; leave this file out");
    }

    std::uint64_t read_record(std::uint64_t offset) {
        const Bytes rest = x_bytes.subspan(offset, x_spool.header.used_bytes - offset);
        Reader peek(rest, offset, x_where);
        const Head head = peek.head<Head>();
        if (head.bytes < sizeof(Head) || head.bytes % 8 != 0 || head.bytes > rest.size()) {
            peek.damaged("a record of " + std::to_string(head.bytes) + " bytes");
        }
        Reader reader(rest.first(head.bytes), offset, x_where);
        switch (head.kind) {
            case kind_dead:
                break;
            case kind_text:
                read_text(reader);
                break;
            case kind_library:
                read_library(reader);
                break;
            case kind_file:
                read_file(reader, offset);
                break;
            case kind_file_name:
                read_name(reader, false);
                break;
            case kind_dataset:
                read_dataset(reader, offset);
                break;
            case kind_dataset_name:
                read_name(reader, true);
                break;
            case kind_transfers:
                read_transfers(reader, offset);
                break;
            case kind_shape:
                read_shape(reader);
                break;
            case kind_places:
                read_places(reader);
                break;
            case kind_setting:
                read_setting(reader);
                break;
            case kind_filter:
                read_filter(reader);
                break;
            case kind_extents:
                read_extents(reader);
                break;
            case kind_mpiio:
                read_mpiio(reader);
                break;
            case kind_hint:
                read_hint(reader);
                break;
            case kind_view:
                read_view(reader);
                break;
            case kind_posix:
                read_posix(reader);
                break;
            case kind_outcome:
                read_outcome(reader);
                break;
            case kind_declared:
                read_declared(reader);
                break;
            case kind_delivered:
                read_delivered(reader);
                break;
            default:
                reader.damaged("a record of kind " + std::to_string(head.kind));
        }
        return head.bytes;
    }

    void read_text(Reader& reader) {
        const auto record = reader.head<TextRecord>();
        std::string text = reader.text(record.bytes);
        switch (record.of) {
            case text_program:
                x_spool.program = std::move(text);
                break;
            case text_folder:
                x_spool.folder = std::move(text);
                break;
            case text_mpi:
                x_spool.mpi = std::move(text);
                break;
            case text_command:
                for (std::size_t at = 0; at < text.size();) {
                    const std::size_t end = std::min(text.find('\0', at), text.size());
                    x_spool.command.push_back(text.substr(at, end - at));
                    at = end + 1;
                }
                break;
            default:
                reader.damaged("a text of kind " + std::to_string(record.of));
        }
    }

    void read_library(Reader& reader) {
        const auto record = reader.head<LibraryRecord>();
        DecodedLibrary library;
        for (const std::uint32_t part : record.version) {
            library.version += (library.version.empty() ? "" : ".") + std::to_string(part);
        }
        library.parallel = record.parallel != 0;
        library.path = reader.text(record.path_bytes);
        x_spool.libraries.push_back(std::move(library));
    }

    void read_file(Reader& reader, std::uint64_t offset) {
        DecodedFile file;
        file.record = reader.head<FileRecord>();
        file.path = reader.text(file.record.path_bytes);
        x_spool.files.emplace(offset, std::move(file));
    }

    void read_name(Reader& reader, bool of_dataset) {
        const auto record = reader.head<NameRecord>();
        std::string name = reader.text(record.bytes);
        if (!of_dataset) {
            file(reader, record.of).names.push_back(std::move(name));
            return;
        }
        DecodedDataset& named = dataset(reader, record.of);
        if (named.path.empty()) {  // it was made without a name
            named.path = std::move(name);
        } else {
            named.names.push_back(std::move(name));
        }
    }

    void read_dataset(Reader& reader, std::uint64_t offset) {
        DecodedDataset made;
        made.record = reader.head<DatasetRecord>();
        file(reader, made.record.file);
        made.dims = reader.numbers(reader.rank(made.record.rank));
        made.largest = reader.numbers(made.record.rank);
        made.chunk = reader.numbers(reader.rank(made.record.chunk_rank));
        made.path = reader.text(made.record.path_bytes);
        x_spool.datasets.emplace(offset, std::move(made));
    }

    void read_transfers(Reader& reader, std::uint64_t offset) {
        DecodedTransfers made;
        made.record = reader.head<TransfersRecord>();
        if (made.record.direction > writes) reader.damaged("transfers that neither read nor write");
        const std::uint32_t rank = reader.rank(made.record.rank);
        made.first_start = reader.numbers(rank);
        made.first_count = reader.numbers(rank);
        made.step = reader.numbers<std::int64_t>(rank);
        DecodedDataset& of = dataset(reader, made.record.dataset);
        const auto direction = static_cast<Direction>(made.record.direction);
        x_transfers[offset] = &(of.transfers[direction] = std::move(made));
    }

    void read_shape(Reader& reader) {
        DecodedShape made;
        made.record = reader.head<ShapeRecord>();
        if (made.record.selection > select_irregular) reader.damaged("an unknown selection");
        const std::uint32_t rank = reader.rank(made.record.rank);
        made.stride = reader.numbers(rank);
        made.count = reader.numbers(rank);
        made.block = reader.numbers(rank);
        transfers(reader, made.record.transfers).shapes.push_back(std::move(made));
    }

    void read_places(Reader& reader) {
        const auto record = reader.head<PlacesRecord>();
        const std::uint32_t rank = reader.rank(record.rank);
        DecodedTransfers& of = transfers(reader, record.transfers);
        if (record.used > record.capacity || of.record.rank != rank) {
            reader.damaged("places that do not fit");
        }
        for (std::uint32_t number = 0; number < record.used; ++number) {
            DecodedPlace place;
            for (Numbers* part : {&place.start, &place.stride, &place.count, &place.block}) {
                *part = reader.numbers(rank);
            }
            (record.earlier != 0 ? of.earlier : of.places).push_back(std::move(place));
        }
    }

    void read_setting(Reader& reader) {
        const auto record = reader.head<SettingRecord>();
        DecodedSetting made{static_cast<Key>(record.key), reader.numbers(record.count),
                            record.real};
        if (record.key < key_alignment || record.key >= key_behind) {
            reader.damaged("a setting of kind " + std::to_string(record.key));
        }
        const auto found = x_spool.files.find(record.of);
        (found != x_spool.files.end() ? found->second.settings
                                      : dataset(reader, record.of).settings)
            .push_back(std::move(made));
    }

    void read_filter(Reader& reader) {
        const auto record = reader.head<FilterRecord>();
        DecodedFilter made{record.id, {}, reader.numbers(record.count)};
        made.name = reader.text(record.name_bytes);
        dataset(reader, record.dataset).filters.push_back(std::move(made));
    }

    /// In the order of the calls; what the ring overwrote is missing in the middle.
    void read_extents(Reader& reader) {
        const auto record = reader.head<ExtentsRecord>();
        const std::uint32_t rank = reader.rank(record.rank);
        if (record.capacity < 2 || record.capacity > 1024)
            reader.damaged("extents that do not fit");
        const std::uint64_t first = record.capacity / 2;
        const std::uint64_t ring = record.capacity - first;
        const Numbers all = reader.numbers(static_cast<std::uint64_t>(record.capacity) * rank);
        auto& extents = dataset(reader, record.dataset).extents;
        for (std::uint64_t slot = 0; slot < std::min<std::uint64_t>(record.calls, record.capacity);
             ++slot) {
            std::uint64_t from = slot;
            if (record.calls > record.capacity && slot >= first) {
                from = first + (record.calls - first + slot - first) % ring;
            }
            const auto at = all.begin() + static_cast<std::ptrdiff_t>(from * rank);
            extents.emplace_back(at, at + rank);
        }
    }

    void read_mpiio(Reader& reader) {
        const auto record = reader.head<MpiioRecord>();
        file(reader, record.file).mpiio.emplace().record = record;
    }

    void read_hint(Reader& reader) {
        const auto record = reader.head<HintRecord>();
        DecodedHint hint{reader.text(record.key_bytes), {}, record.in_force != 0, record.turn};
        hint.value = reader.text(record.value_bytes);
        mpiio(reader, record.of).hints.push_back(std::move(hint));
    }

    void read_view(Reader& reader) {
        const auto record = reader.head<ViewRecord>();
        if (record.filetype >= filetypes) reader.damaged("an unknown kind of file type");
        mpiio(reader, record.of).views.push_back(record);
    }

    void read_posix(Reader& reader) {
        const auto record = reader.head<PosixRecord>();
        DecodedFile& of = file(reader, record.file);
        (record.stream != 0 ? of.stream : of.posix) = record;
    }

    DecodedMpiio& mpiio(Reader& reader, std::uint64_t offset) {
        DecodedFile& of = file(reader, offset);
        if (!of.mpiio) reader.damaged("it refers to MPI-IO on a file that had none");
        return *of.mpiio;
    }

    void read_outcome(Reader& reader) {
        const auto record = reader.head<OutcomeRecord>();
        if (record.became < became_applied || record.became >= becames)
            reader.damaged("an outcome of kind " + std::to_string(record.became));
        DecodedOutcome made{.became = static_cast<Became>(record.became), .count = record.count};
        std::string* texts[] = {&made.rule,    &made.setting, &made.file,
                                &made.dataset, &made.value,   &made.reason};
        for (std::size_t part = 0; part < std::size(texts); ++part)
            *texts[part] = reader.text(record.bytes[part]);
        x_spool.outcomes.push_back(std::move(made));
    }

    void read_delivered(Reader& reader) {
        DecodedDelivered made;
        made.record = reader.head<DeliveredRecord>();
        made.file = reader.text(made.record.text_bytes[0]);
        made.dataset = reader.text(made.record.text_bytes[1]);
        x_spool.delivered.push_back(std::move(made));
    }

    void read_declared(Reader& reader) {
        const auto record = reader.head<DeclaredRecord>();
        if (record.by < declared_on_list || record.by >= declared_bys)
            reader.damaged("a declaration of kind " + std::to_string(record.by));
        DecodedDeclared made{static_cast<DeclaredBy>(record.by), reader.text(record.bytes)};
        const auto found = x_spool.files.find(record.of);
        if (record.of == 0) {
            x_spool.declared.push_back(std::move(made));
        } else if (found != x_spool.files.end()) {
            found->second.declared.push_back(std::move(made));
        } else {
            dataset(reader, record.of).declared.push_back(std::move(made));
        }
    }

    DecodedFile& file(Reader& reader, std::uint64_t offset) {
        return of(x_spool.files, reader, offset, "file");
    }
    DecodedDataset& dataset(Reader& reader, std::uint64_t offset) {
        return of(x_spool.datasets, reader, offset, "dataset");
    }
    DecodedTransfers& transfers(Reader& reader, std::uint64_t offset) {
        return *of(x_transfers, reader, offset, "transfer");
    }
    template <typename Record>
    static Record& of(std::map<std::uint64_t, Record>& records, Reader& reader,
                      std::uint64_t offset, const char* what) {
        const auto found = records.find(offset);
        if (found == records.end()) {
            reader.damaged(std::string("it refers to a ") + what + " at byte " +
                           std::to_string(offset) + " that is not there");
        }
        return found->second;
    }

    Bytes x_bytes;
    const std::string& x_where;
    Spool x_spool;
    std::map<std::uint64_t, DecodedTransfers*> x_transfers;
};

}  // namespace

Spool decode(std::span<const std::byte> bytes, const std::string& where) {
    return Decoder(bytes, where).run();
}

Spool read_spool(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw Error(Code::no_such_file, "the spool cannot be opened", path.string());
    std::vector<std::byte> bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) throw Error(Code::io, "the spool cannot be read", path.string());
    return decode(bytes, path.string());
}

}  // namespace tailrace::intent::spool
