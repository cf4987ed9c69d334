// SPDX-License-Identifier: Apache-2.0
// A Sink and a Source over one process's memory, written from the contract in core/sink.hpp alone.
// It is strict where a format may be lax: it refuses what the contract forbids, so that a user who
// passes here uses the door as it is meant.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/sink.hpp"

namespace tailrace::tests {

/// What a closed memory file holds; shared by the Sink that wrote it and the Sources that read it.
struct MemoryFile {
    core::Schema schema;
    std::vector<std::vector<std::byte>> data;
    std::vector<std::map<std::string, std::vector<std::byte>>> encoded;  ///< by chunk offset text
    bool published = false;
    std::set<core::Step> completed;
};

class MemorySink final : public core::Sink {
public:
    MemorySink(std::shared_ptr<MemoryFile> file, core::Capabilities can)
        : x_file(std::move(file)), x_can(can) {}

    [[nodiscard]] const core::Capabilities& can() const noexcept override { return x_can; }

    std::vector<core::ObjectId> define(const core::Schema& schema) override {
        std::vector<core::ObjectId> ids;
        for (const core::Object& object : schema.objects) {
            ids.push_back(static_cast<core::ObjectId>(x_file->schema.objects.size()));
            x_file->schema.objects.push_back(object);
            x_file->data.emplace_back(object.bytes());
            x_file->encoded.emplace_back();
        }
        for (const core::Attribute& attribute : schema.attributes)
            x_file->schema.attributes.push_back(attribute);
        return ids;
    }

    void write(std::span<const core::Write> pieces) override {
        rethrow();
        for (const core::Write& piece : pieces) check(piece);
        x_pending.insert(x_pending.end(), pieces.begin(), pieces.end());
    }

    void write_encoded(std::span<const core::EncodedChunk> chunks) override {
        if (!x_can.encoded_chunks) return core::Sink::write_encoded(chunks);
        for (const core::EncodedChunk& chunk : chunks) {
            std::string key;
            for (std::uint64_t o : chunk.offset) key += std::to_string(o) + ",";
            x_file->encoded.at(chunk.object)[key].assign(chunk.data.begin(), chunk.data.end());
        }
    }

    void complete(core::Step step) override {
        rethrow();
        // Buffers are borrowed until here: they are read only now, so a user who changes one too
        // early is found out.
        for (const core::Write& piece : x_pending) store(piece);
        x_pending.clear();
        if (x_fail_at == step) {
            x_failure = core::Error(core::Code::no_space, "the memory file is full", "memory");
            throw *x_failure;
        }
        x_file->completed.insert(step);
    }

    core::Ticket sync(core::Durability) override {
        rethrow();
        class State final : public core::Ticket::State {
        public:
            explicit State(bool late) : x_late(late) {}
            void wait() override { x_late = false; }
            [[nodiscard]] bool ready() const override { return !x_late; }

        private:
            bool x_late;
        };
        return core::Ticket(std::make_unique<State>(x_can.async));
    }

    core::Pending<core::FileReport> post_close(core::Outcome outcome) override {
        if (outcome == core::Outcome::publish) rethrow();
        x_file->published = outcome == core::Outcome::publish;
        core::FileReport report;
        report.bytes_logical = x_bytes;
        return core::Pending<core::FileReport>::done(report);
    }

    /// complete(step) will fail and poison the sink.
    void fail_at(core::Step step) { x_fail_at = step; }

private:
    void rethrow() const {
        if (x_failure) throw *x_failure;
    }

    void check(const core::Write& piece) const {
        if (piece.object >= x_file->schema.objects.size())
            throw core::Error(core::Code::wrong_call, "no such object", "write");
        const core::Object& object = x_file->schema.objects[piece.object];
        if (!piece.place.empty() && (piece.data == nullptr || piece.type != object.type))
            throw core::Error(core::Code::wrong_call, "no data, or of another type", object.path);
        if (!piece.place.inside(object.sizes()) && object.kind != core::Kind::record)
            throw core::Error(core::Code::bad_input, "box " + piece.place.text() + " is outside",
                              object.path);
    }

    void store(const core::Write& piece) {
        if (piece.place.empty()) return;
        core::Object& object = x_file->schema.objects[piece.object];
        if (object.kind == core::Kind::record && !object.dims.empty()) grow(piece, object);
        const std::uint64_t size = core::size_of(object.type);
        auto& target = x_file->data[piece.object];
        const core::MemLayout& memory = piece.memory;
        const core::Box in_memory{
            memory.dims.empty() ? core::Extents(piece.place.rank(), 0) : memory.offset,
            piece.place.count};
        const core::Extents memory_dims = memory.dims.empty() ? piece.place.count : memory.dims;
        std::vector<std::byte> packed(piece.place.volume() * size);
        core::for_each_run(in_memory, memory_dims, [&](auto at, auto in_box, auto n) {
            std::memcpy(packed.data() + in_box * size, piece.data + at * size, n * size);
        });
        core::for_each_run(piece.place, object.sizes(), [&](auto at, auto in_box, auto n) {
            std::memcpy(target.data() + at * size, packed.data() + in_box * size, n * size);
        });
        x_bytes += packed.size();
    }

    void grow(const core::Write& piece, core::Object& object) {
        const std::uint64_t end = piece.place.offset[0] + piece.place.count[0];
        object.dims[0].size = std::max(object.dims[0].size, end);
        x_file->data[piece.object].resize(object.bytes());
    }

    std::shared_ptr<MemoryFile> x_file;
    core::Capabilities x_can;
    std::vector<core::Write> x_pending;
    std::optional<core::Step> x_fail_at;
    std::optional<core::Error> x_failure;
    std::uint64_t x_bytes = 0;
};

class MemorySource final : public core::Source {
public:
    explicit MemorySource(std::shared_ptr<const MemoryFile> file) : x_file(std::move(file)) {}
    [[nodiscard]] core::Schema schema() override { return x_file->schema; }
    void read(std::span<core::Read> pieces) override {
        for (core::Read& piece : pieces) {
            if (piece.place.empty()) continue;
            const core::Object& object = x_file->schema.objects.at(piece.object);
            const std::uint64_t size = core::size_of(object.type);
            std::vector<std::byte> packed(piece.place.volume() * size);
            core::for_each_run(piece.place, object.sizes(), [&](auto at, auto in_box, auto n) {
                std::memcpy(packed.data() + in_box * size,
                            x_file->data[piece.object].data() + at * size, n * size);
            });
            const core::Box in_memory{piece.memory.dims.empty()
                                          ? core::Extents(piece.place.rank(), 0)
                                          : piece.memory.offset,
                                      piece.place.count};
            const core::Extents dims =
                piece.memory.dims.empty() ? piece.place.count : piece.memory.dims;
            core::for_each_run(in_memory, dims, [&](auto at, auto in_box, auto n) {
                std::memcpy(piece.data + at * size, packed.data() + in_box * size, n * size);
            });
        }
    }

private:
    std::shared_ptr<const MemoryFile> x_file;
};

}  // namespace tailrace::tests
