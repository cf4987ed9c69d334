// SPDX-License-Identifier: Apache-2.0
#include "server/writer/file_writer.hpp"

#include <algorithm>
#include <utility>

#include "comm/comm.hpp"
#include "core/checked.hpp"
#include "formats/file/copy_file.hpp"
#include "formats/open.hpp"
#include "server/writer/append.hpp"
#include "server/writer/how.hpp"

namespace tailrace::server {

void KnownRecords::add(std::uint64_t record) {
    x_beyond.insert(record);
    while (x_beyond.erase(x_until) > 0) ++x_until;
}

FileWriter::FileWriter(const std::filesystem::path& path, const FileSpec& spec) : x_spec(spec) {
    for (const Variable& variable : spec.metadata.variables())
        x_fills.push_back(fill_bytes(variable));
    x_written.resize(x_fills.size());
    std::error_code ignored;
    if (spec.options.existing == core::Existing::append && std::filesystem::exists(path, ignored))
        append(path);
    else
        create(path);
}

void FileWriter::create(const std::filesystem::path& path) {
    core::Target target;
    target.path = path;
    target.existing = x_spec.options.existing;
    if (target.existing == core::Existing::append) target.existing = core::Existing::refuse;
    x_records.resize(x_fills.size());
    x_sink = formats::open_sink(comm::Comm::self(), target, options_of(x_spec), x_phases);
    x_sink->define(schema_of(x_spec));
    write_constants();
}

/// What is in the file is looked at while the name is ours.
void FileWriter::append(const std::filesystem::path& path) {
    core::Target target;
    target.path = path;
    target.existing = core::Existing::replace;
    target.create = [&](const std::filesystem::path& part) {
        formats::copy_file(path, part);
        x_records = records_of(part, path, x_spec, x_phases);
    };
    x_sink = formats::open_sink(comm::Comm::self(), target,
                                options_of(x_spec, WriteTo::present_objects), x_phases);
    core::Schema schema = schema_of(x_spec);
    for (std::size_t field = 0; field < schema.objects.size(); ++field)
        if (schema.objects[field].kind == core::Kind::record)
            schema.objects[field].dims[0].size = x_records[field];
    x_sink->define(schema);
    for (const std::uint64_t records : x_records) x_first = std::max(x_first, records);
    for (std::size_t field = 0; field < schema.objects.size(); ++field)
        if (schema.objects[field].kind != core::Kind::record) x_written[field].add(0);
}

std::vector<core::Write> FileWriter::writes_of(const FieldRecord& one) const {
    const Variable& variable = x_spec.metadata.variables()[one.field];
    const bool has_records = x_spec.metadata.has_records(variable);
    const auto behind = [&](std::uint64_t first, core::Extents all) {
        if (has_records) all.insert(all.begin(), first);
        return all;
    };
    const core::Extents extents = x_spec.metadata.record_extents(variable);
    const core::Box whole{core::Extents(extents.size(), 0), extents};
    std::vector<core::Write> writes;
    for (const core::Box& block : one.blocks.empty() ? std::span(&whole, 1) : one.blocks) {
        core::Write write;
        write.object = static_cast<core::ObjectId>(one.field);
        write.place = {behind(one.record, block.offset), behind(1, block.count)};
        write.data = one.data;
        if (!one.blocks.empty()) write.memory = {behind(1, extents), behind(0, block.offset)};
        write.type = scalar_of(variable.type);
        writes.push_back(std::move(write));
    }
    return writes;
}

void FileWriter::write_constants() {
    std::vector<FieldRecord> constants;
    const auto& variables = x_spec.metadata.variables();
    for (std::size_t field = 0; field < variables.size(); ++field)
        if (!variables[field].constant.empty())
            constants.push_back({field, 0, variables[field].constant.data()});
    if (!constants.empty()) write(constants);
}

void FileWriter::write(std::span<const FieldRecord> records) {
    std::vector<core::Write> writes;
    for (FieldRecord one : records) {
        x_written[one.field].add(one.record);
        one.record = core::checked_add(one.record, x_first, "record");
        x_records[one.field] = std::max(x_records[one.field], one.record + 1);
        const std::vector<core::Write> pieces = writes_of(one);
        writes.insert(writes.end(), pieces.begin(), pieces.end());
    }
    x_sink->write(writes);
    x_sink->complete(x_steps++);
}

/// In plain HDF5 each dataset has records of its own: all get as many. An element of the last one
/// is enough, HDF5 fills the others; all in one call, which costs as much as there are variables.
void FileWriter::fill_ends() {
    const auto& variables = x_spec.metadata.variables();
    const auto has_records = [&](std::size_t field) {
        return x_spec.metadata.has_records(variables[field]);
    };
    std::uint64_t last = 0;
    for (std::size_t field = 0; field < variables.size(); ++field)
        if (has_records(field)) last = std::max(last, x_records[field]);
    std::vector<core::Write> writes;
    for (std::size_t field = 0; field < variables.size(); ++field) {
        if (!has_records(field) || x_records[field] == last) continue;
        core::Write& write = writes.emplace_back();
        write.object = static_cast<core::ObjectId>(field);
        write.place.offset.resize(variables[field].dimensions.size(), 0);
        write.place.offset.front() = last - 1;
        write.place.count.resize(variables[field].dimensions.size(), 1);
        write.data = x_fills[field].data();
        write.type = scalar_of(variables[field].type);
    }
    if (!writes.empty()) x_sink->write(writes);
}

core::FileReport FileWriter::publish() {
    if (x_spec.options.format == FileFormat::hdf5) fill_ends();
    x_sink->sync(x_spec.options.durability).wait();
    return x_sink->close(core::Outcome::publish);
}

}  // namespace tailrace::server
