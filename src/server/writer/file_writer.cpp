// SPDX-License-Identifier: Apache-2.0
#include "server/writer/file_writer.hpp"

#include <utility>

#include "formats/open.hpp"
#include "server/writer/how.hpp"

namespace tailrace::server {

namespace {

core::Existing existing(IfExists what) {
    switch (what) {
        case IfExists::refuse:
            return core::Existing::refuse;
        case IfExists::replace:
            return core::Existing::replace;
        case IfExists::append:
            break;
    }
    return core::Existing::append;
}

}  // namespace

FileWriter::FileWriter(const comm::Comm& comm, const std::filesystem::path& path,
                       const FileSpec& spec)
    : x_comm(comm), x_spec(spec) {
    const core::Schema schema = schema_of(spec);
    for (const core::Object& object : schema.objects) x_types.push_back(object.type);
    for (const Variable& variable : spec.metadata.variables())
        x_fills.push_back(fill_bytes(variable));
    core::Target target;
    target.path = path;
    target.existing = existing(spec.options.if_exists);
    x_sink = formats::open_sink(comm, target, options_of(spec, comm.size() == 1), x_phases);
    x_sink->define(schema);
    write_constants();
}

core::Write FileWriter::write_of(const FieldBlock& one) const {
    core::Write write;
    write.object = static_cast<core::ObjectId>(one.field);
    write.place = one.block;
    write.data = one.data;
    write.memory = one.memory;
    write.type = x_types[one.field];
    if (!x_spec.metadata.has_records(x_spec.metadata.variables()[one.field])) return write;
    write.place.offset.insert(write.place.offset.begin(), one.record);
    write.place.count.insert(write.place.count.begin(), 1);
    if (!write.memory.dims.empty()) {
        write.memory.dims.insert(write.memory.dims.begin(), 1);
        write.memory.offset.insert(write.memory.offset.begin(), 0);
    }
    return write;
}

void FileWriter::write_constants() {
    std::vector<FieldBlock> blocks;
    const auto& variables = x_spec.metadata.variables();
    for (std::size_t field = 0; field < variables.size(); ++field) {
        if (variables[field].constant.empty()) continue;
        const core::Extents extents = x_spec.metadata.record_extents(variables[field]);
        core::Box whole{core::Extents(extents.size(), 0), extents};
        if (x_comm.rank() != 0 && !extents.empty()) whole.count.assign(extents.size(), 0);
        blocks.push_back({field, 0, std::move(whole), variables[field].constant.data(), {}});
    }
    if (blocks.empty()) return;
    write(blocks);
}

void FileWriter::write(std::span<const FieldBlock> blocks) {
    std::vector<core::Write> writes;
    for (const FieldBlock& block : blocks) writes.push_back(write_of(block));
    x_sink->write(writes);
    x_sink->complete(x_steps++);
}

core::FileReport FileWriter::publish() {
    if (x_spec.options.durable) x_sink->sync(core::Durability::durable).wait();
    return x_sink->close(core::Outcome::publish);
}

}  // namespace tailrace::server
