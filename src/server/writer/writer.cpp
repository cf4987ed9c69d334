// SPDX-License-Identifier: Apache-2.0
#include "server/writer/writer.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "comm/comm.hpp"

namespace tailrace::server {

namespace {

/// Formats name a dataset, or their own file.
core::Error in_file(const core::Error& error, const std::string& path, const std::string& record) {
    const bool named = error.where().find(path) != std::string::npos;
    std::string where = named ? error.where() : path;
    if (!named && !error.where().empty()) where += ", " + error.where();
    return error.with_where(where + record);
}

std::string records_text(std::span<const FieldRecord> records) {
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const FieldRecord& one : records) {
        first = std::min(first, one.record);
        last = std::max(last, one.record);
    }
    return (first == last ? ", record " : ", records " + std::to_string(first + 1) + " to ") +
           std::to_string(last + 1);
}

}  // namespace

void Files::lose(Current& current, const core::Error& error, const std::string& record) {
    current.writer.reset();
    current.lost = in_file(error, current.path, record).seen_by(x_rank, 1, x_ranks);
    throw core::Error(*current.lost);
}

FileWriter& Files::of(std::uint64_t collection, std::uint64_t file_seq, const std::string& path,
                      std::span<const std::byte> spec) {
    const auto [found, is_new] = x_current.try_emplace(collection);
    Current& current = found->second;
    if (is_new || current.file_seq < file_seq) {
        current.file_seq = file_seq;
        current.path = path;
        current.lost.reset();
        current.writer.reset();
        current.take_ahead();
        if (!current.lost) try {
                current.writer.emplace(path, FileSpec::from_bytes(spec));
            } catch (const core::Error& error) {
                lose(current, error);
            }
    }
    if (current.lost) throw *current.lost;
    if (!current.writer || current.file_seq != file_seq)
        throw core::Error(core::Code::wrong_call, "the file has its final name already", path,
                          "name the next file");
    return *current.writer;
}

void Files::write(std::uint64_t collection, std::span<const FieldRecord> records) {
    Current& current = x_current.at(collection);
    if (const auto error = comm::Comm::caught([&] { current.writer->write(records); }))
        lose(current, *error, records_text(records));
}

void Files::give_up(std::uint64_t collection, std::uint64_t file_seq, const core::Error& error) {
    Current& current = x_current[collection];
    if (file_seq > current.file_seq) current.ahead.try_emplace(file_seq, error);
    if (file_seq != current.file_seq) return;
    current.writer.reset();
    if (!current.lost) current.lost = error;
}

void Files::Current::take_ahead() {
    const auto found = ahead.find(file_seq);
    if (found != ahead.end()) lost = found->second;
    ahead.erase(ahead.begin(), ahead.upper_bound(file_seq));
}

void Files::publish(std::uint64_t collection, std::uint64_t file_seq) {
    const auto found = x_current.find(collection);
    if (found == x_current.end()) return;
    Current& current = found->second;
    if (const auto never = current.ahead.find(file_seq); never != current.ahead.end())
        throw core::Error(never->second);
    if (current.file_seq != file_seq) return;
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
    try {
        write(work);
    } catch (const core::Error&) {
        throw;
    } catch (const std::exception&) {  // such as no memory: one file, not the server
        const core::Error error = comm::Comm::caught([] { throw; })
                                      ->with_where(work.file->file)
                                      .seen_by(x_rank, 1, x_ranks);
        x_files.give_up(work.item.collection, work.item.file_seq, error);
        throw core::Error(error);
    }
}

void Writer::write(Work& work) {
    const std::uint64_t collection = work.item.collection;
    if (work.file->collection_name.empty() && work.fields.empty()) return;  // no file was named
    const auto region = x_profiler.region(work.item.kind == Ending::step ? "write" : "close");
    const auto which = x_profiler.region(work.file->collection_name);
    if (work.lost) return x_files.give_up(collection, work.item.file_seq, *work.lost);
    if (work.item.kind == Ending::discard_file)
        return x_files.give_up(collection, work.item.file_seq,
                               core::Error(core::Code::wrong_call, "the model has given it up",
                                           work.file->file, "name the next file"));
    if (work.item.kind != Ending::step) return x_files.publish(collection, work.item.file_seq);
    // A file that nobody puts an element of is there all the same, with its fill values.
    const bool makes = !work.file->file.empty() && !work.file->body.empty() &&
                       !x_files.knows(collection, work.item.file_seq);
    if (work.fields.empty() && !makes) return;
    const FileWriter& file =
        x_files.of(collection, work.item.file_seq, work.file->file, work.file->body);
    std::vector<FieldRecord> records;
    for (WholeField& one : work.fields) {
        // What is in the file already stays where nothing is put over it.
        const bool again = file.has(one.field, one.record) && !one.slab.is_whole();
        if (!again) one.slab.fill(file.fill_of(one.field));
        records.push_back({one.field, one.record, one.slab.data().data(),
                           again ? std::span(one.slab.blocks()) : std::span<const core::Box>{}});
    }
    if (!records.empty()) x_files.write(collection, records);
}

}  // namespace tailrace::server
