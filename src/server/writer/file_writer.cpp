// SPDX-License-Identifier: Apache-2.0
#include "server/writer/file_writer.hpp"

#include <algorithm>
#include <utility>

#include "comm/comm.hpp"
#include "formats/open.hpp"
#include "server/writer/how.hpp"

namespace tailrace::server {

FileWriter::FileWriter(const std::filesystem::path& path, const FileSpec& spec) : x_spec(spec) {
    for (const Variable& variable : spec.metadata.variables())
        x_fills.push_back(fill_bytes(variable));
    x_ends.resize(x_fills.size());
    core::Target target;
    target.path = path;
    target.existing = spec.options.existing;
    x_sink = formats::open_sink(comm::Comm::self(), target, options_of(spec), x_phases);
    x_sink->define(schema_of(spec));
    write_constants();
}

core::Write FileWriter::write_of(const FieldRecord& one) const {
    const Variable& variable = x_spec.metadata.variables()[one.field];
    core::Write write;
    write.object = static_cast<core::ObjectId>(one.field);
    core::Extents extents = x_spec.metadata.record_extents(variable);
    write.place = one.part.value_or(core::Box{core::Extents(extents.size(), 0), extents});
    if (one.part) write.memory = {extents, one.part->offset};
    write.data = one.data;
    write.type = scalar_of(variable.type);
    if (x_spec.metadata.has_records(variable)) {
        write.place.offset.insert(write.place.offset.begin(), one.record);
        write.place.count.insert(write.place.count.begin(), 1);
        if (one.part) write.memory.dims.insert(write.memory.dims.begin(), 1);
        if (one.part) write.memory.offset.insert(write.memory.offset.begin(), 0);
    }
    return write;
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
    for (const FieldRecord& one : records) writes.push_back(write_of(one));
    x_sink->write(writes);
    x_sink->complete(x_steps++);
    for (const FieldRecord& one : records)
        x_ends[one.field] = std::max(x_ends[one.field], one.record + 1);
}

core::FileReport FileWriter::publish() {
    x_sink->sync(x_spec.options.durability).wait();
    return x_sink->close(core::Outcome::publish);
}

}  // namespace tailrace::server
