// SPDX-License-Identifier: Apache-2.0
#include "server/writer/writer.hpp"

#include <utility>
#include <vector>

namespace tailrace::server {

void Files::lose(Current& current, const core::Error& error) {
    current.writer.reset();
    current.lost = error.seen_by(x_rank, 1, x_ranks);
    throw core::Error(*current.lost);
}

FileWriter& Files::of(std::uint64_t collection, std::uint64_t file_seq, const std::string& path,
                      std::span<const std::byte> spec) {
    const auto [found, is_new] = x_current.try_emplace(collection);
    Current& current = found->second;
    if (is_new || current.file_seq != file_seq) {
        current.file_seq = file_seq;
        current.path = path;
        current.lost.reset();
        try {
            current.writer.emplace(path, FileSpec::from_bytes(spec));
        } catch (const core::Error& error) {
            lose(current, error);
        }
    }
    if (current.lost) throw *current.lost;
    if (!current.writer)
        throw core::Error(core::Code::wrong_call, "the file has its final name already", path,
                          "name the next file");
    return *current.writer;
}

bool Files::has(std::uint64_t collection, std::uint64_t file_seq) const {
    const auto found = x_current.find(collection);
    return found != x_current.end() && found->second.file_seq == file_seq;
}

void Files::write(std::uint64_t collection, std::span<const FieldRecord> records) {
    Current& current = x_current.at(collection);
    try {
        current.writer->write(records);
    } catch (const core::Error& error) {
        lose(current, error);
    }
}

void Files::give_up(std::uint64_t collection, std::uint64_t file_seq, const core::Error& error) {
    Current& current = x_current[collection];
    current.writer.reset();
    if (current.file_seq != file_seq || !current.lost) current.lost = error;
    current.file_seq = file_seq;
}

void Files::publish(std::uint64_t collection, std::uint64_t file_seq) {
    const auto found = x_current.find(collection);
    if (found == x_current.end() || found->second.file_seq != file_seq) return;
    Current& current = found->second;
    if (current.lost) throw *current.lost;
    if (!current.writer) return;
    try {
        const core::FileReport report = current.writer->publish();
        if (x_published) x_published(report);
    } catch (const core::Error& error) {
        lose(current, error);
    }
    current.writer.reset();
}

void Writer::operator()(Work& work) {
    const std::uint64_t collection = work.item.collection;
    const auto region = x_profiler.region(work.item.kind == Ending::step ? "write" : "close");
    const auto which = x_profiler.region(work.file->collection_name);
    if (work.lost) return x_files.give_up(collection, work.item.file_seq, *work.lost);
    if (work.item.kind == Ending::discard_file)
        return x_files.give_up(collection, work.item.file_seq,
                               core::Error(core::Code::wrong_call, "the model has given it up",
                                           work.file->file, "name the next file"));
    if (work.item.kind != Ending::step) return x_files.publish(collection, work.item.file_seq);
    // A file that is named and to which nobody puts anything is made all the same.
    const bool makes = !work.file->file.empty() && !x_files.has(collection, work.item.file_seq);
    if (work.fields.empty() && !makes) return;
    const FileWriter& file =
        x_files.of(collection, work.item.file_seq, work.file->file, work.file->body);
    std::vector<FieldRecord> records;
    for (WholeField& one : work.fields) {
        const bool again = file.has(one.field, one.record);
        if (!again) one.slab.fill(file.fill_of(one.field));
        records.push_back({one.field, one.record, one.slab.data().data(),
                           again ? std::span(one.slab.blocks()) : std::span<const core::Box>{}});
    }
    if (!records.empty()) x_files.write(collection, records);
}

}  // namespace tailrace::server
