// SPDX-License-Identifier: Apache-2.0
#include "formats/sink/turns.hpp"

#include <thread>

namespace tailrace::formats {

namespace {

std::recursive_mutex& library() {
    static std::recursive_mutex mutex;
    return mutex;
}

/// Which thread has files of several ranks, and how many.
struct Holder {
    std::mutex mutex;
    std::thread::id thread;
    std::uint64_t files = 0;
};
Holder& holder() {
    static Holder one;
    return one;
}

class Held {
public:
    explicit Held(const std::filesystem::path& path) {
        const std::lock_guard lock(holder().mutex);
        if (holder().files != 0 && holder().thread != std::this_thread::get_id())
            throw core::Error(core::Code::wrong_call,
                              "another thread of this process has a file of several ranks open, "
                              "and HDF5, netCDF and PnetCDF are not for threads",
                              path.string(),
                              "open such files in one thread, and others with Comm::self()");
        holder().thread = std::this_thread::get_id();
        ++holder().files;
    }
    ~Held() {
        const std::lock_guard lock(holder().mutex);
        --holder().files;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
};

/// What was opened, and the right to it.
template <class Door>
class Guarded {
public:
    Guarded(const comm::Comm& comm, const std::filesystem::path& path,
            const std::function<std::unique_ptr<Door>()>& open) {
        if (comm.size() > 1) comm.agree_on([&] { x_held = std::make_unique<Held>(path); });
        const Turn turn;
        x_door = open();
    }
    ~Guarded() {
        const Turn turn;
        x_door.reset();
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    Door* operator->() const { return x_door.get(); }

private:
    std::unique_ptr<Held> x_held;
    std::unique_ptr<Door> x_door;
};

class SinkInTurns final : public core::Sink {
public:
    template <class... Args>
    explicit SinkInTurns(Args&&... args) : x_sink(std::forward<Args>(args)...) {}

    [[nodiscard]] const core::Capabilities& can() const noexcept override { return x_sink->can(); }
    std::vector<core::ObjectId> define(const core::Schema& schema) override {
        const Turn turn;
        return x_sink->define(schema);
    }
    void write(std::span<const core::Write> pieces) override {
        const Turn turn;
        x_sink->write(pieces);
    }
    void write_encoded(std::span<const core::EncodedChunk> chunks) override {
        const Turn turn;
        x_sink->write_encoded(chunks);
    }
    void complete(core::Step step) override {
        const Turn turn;
        x_sink->complete(step);
    }
    core::Ticket sync(core::Durability durability) override {
        const Turn turn;
        return x_sink->sync(durability);
    }
    core::Pending<core::FileReport> post_close(core::Outcome outcome) override {
        const Turn turn;
        return x_sink->post_close(outcome);
    }

private:
    Guarded<core::Sink> x_sink;
};

class SourceInTurns final : public core::Source {
public:
    template <class... Args>
    explicit SourceInTurns(Args&&... args) : x_source(std::forward<Args>(args)...) {}

    [[nodiscard]] core::Schema schema() override {
        const Turn turn;
        return x_source->schema();
    }
    void read(std::span<core::Read> pieces) override {
        const Turn turn;
        x_source->read(pieces);
    }

private:
    Guarded<core::Source> x_source;
};

}  // namespace

Turn::Turn() : x_lock(library()) {}

std::unique_ptr<core::Sink> in_turns(const comm::Comm& comm, const std::filesystem::path& path,
                                     const std::function<std::unique_ptr<core::Sink>()>& open) {
    return std::make_unique<SinkInTurns>(comm, path, open);
}

std::unique_ptr<core::Source> in_turns(const comm::Comm& comm, const std::filesystem::path& path,
                                       const std::function<std::unique_ptr<core::Source>()>& open) {
    return std::make_unique<SourceInTurns>(comm, path, open);
}

}  // namespace tailrace::formats
