// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/meter.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "kernels/run/laps.hpp"

namespace tailrace::kernels::history {

namespace {

class MeasuredSink final : public core::Sink {
public:
    MeasuredSink(std::unique_ptr<core::Sink> sink, Meter& meter)
        : x_sink(std::move(sink)), x_meter(meter) {}

    [[nodiscard]] const core::Capabilities& can() const noexcept override { return x_sink->can(); }
    std::vector<core::ObjectId> define(const core::Schema& schema) override {
        return x_meter.wait_for([&] { return x_sink->define(schema); });
    }
    void write(std::span<const core::Write> pieces) override {
        if (!x_first_s) x_first_s = core::now_s();
        x_meter.wait_for([&] { x_sink->write(pieces); });
    }
    void write_encoded(std::span<const core::EncodedChunk> chunks) override {
        x_meter.wait_for([&] { x_sink->write_encoded(chunks); });
    }
    void complete(core::Step step) override {
        x_step = step;
        x_meter.wait_for([&] { x_sink->complete(step); });
        x_meter.belongs_to(step);
    }
    core::Ticket sync(core::Durability durability) override { return x_sink->sync(durability); }

    core::Pending<core::FileReport> post_close(core::Outcome outcome) override {
        if (outcome == core::Outcome::discard) return x_sink->post_close(outcome);
        auto posted = x_meter.wait_for([&] {
            auto closing = x_sink->post_close(outcome);
            return can().async ? std::move(closing)
                               : core::Pending<core::FileReport>::done(closing.wait());
        });
        x_meter.belongs_to(x_step);
        auto ending =
            std::make_unique<Ending>(std::move(posted), x_meter, x_first_s.value_or(core::now_s()));
        if (can().async) return core::Pending<core::FileReport>(std::move(ending));
        return core::Pending<core::FileReport>::done(ending->wait());
    }

private:
    class Ending final : public core::Pending<core::FileReport>::State {
    public:
        Ending(core::Pending<core::FileReport> posted, Meter& meter, double first_s)
            : x_posted(std::move(posted)), x_meter(meter), x_first_s(first_s) {}
        core::FileReport wait() override {
            core::FileReport report = x_posted.wait();
            x_meter.ended(report, core::now_s() - x_first_s);
            return report;
        }

    private:
        core::Pending<core::FileReport> x_posted;
        Meter& x_meter;
        double x_first_s;
    };

    std::unique_ptr<core::Sink> x_sink;
    Meter& x_meter;
    core::Step x_step = 0;
    std::optional<double> x_first_s;
};

class MeasuredOpener final : public run::Opener {
public:
    MeasuredOpener(std::unique_ptr<Opener> opener, Meter& meter)
        : x_opener(std::move(opener)), x_meter(meter) {}
    [[nodiscard]] std::string name() const override { return x_opener->name(); }
    void check_schema(const core::Schema& schema) const override { x_opener->check_schema(schema); }
    void check(const comm::Comm& comm, const core::Target& target, int ranks) const override {
        x_opener->check(comm, target, ranks);
    }
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const comm::Comm& comm,
                                                   const core::Target& target,
                                                   core::Phases& phases) const override {
        x_meter.begin();
        return std::make_unique<MeasuredSink>(
            x_meter.wait_for([&] { return x_opener->sink(comm, target, phases); }), x_meter);
    }
    [[nodiscard]] std::unique_ptr<core::Source> source(const comm::Comm& comm,
                                                       const std::filesystem::path& path,
                                                       core::Phases& phases) const override {
        return x_opener->source(comm, path, phases);
    }

private:
    std::unique_ptr<Opener> x_opener;
    Meter& x_meter;
};

/// Of memory that was touched before, all ranks at once: the best of five, on the slowest rank.
double copy_seconds(const comm::Comm& comm, std::uint64_t bytes) {
    const std::vector<std::byte> from(bytes, std::byte{1});
    std::vector<std::byte> to(bytes, std::byte{2});
    double least = 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
        comm.barrier();
        const double start = core::now_s();
        if (bytes > 0) std::memcpy(to.data(), from.data(), bytes);
        const double one = comm.max(core::now_s() - start);
        least = attempt == 0 ? one : std::min(least, one);
    }
    return to == from ? least : 0;  // and so the copy is not optimised away
}

}  // namespace

void Meter::begin() {
    if (std::exchange(x_begun, true)) return;
    x_waited_s = x_cpu_s = 0;
    x_steps.clear();
    x_files.clear();
    if (!x_watched.processes.empty())
        x_watch = std::make_unique<core::MemoryWatch>(x_watched.processes, x_watched.every_s);
}

void Meter::belongs_to(core::Step step) {
    if (step >= x_steps.size()) x_steps.resize(step + 1);
    x_steps[step] += std::exchange(x_waited_s, 0.0);
}

void Meter::ended(const core::FileReport& file, double elapsed_s) {
    x_files.push_back({file.path.string(), file.bytes_logical, elapsed_s});
}

std::optional<core::SharedMemoryRecord> Meter::memory(const comm::Comm& comm) {
    const core::MemoryWatch::Seen seen = x_watch ? x_watch->seen() : core::MemoryWatch::Seen{};
    x_watch.reset();
    if (x_watched.every_s == 0) return std::nullopt;
    const std::uint64_t fewest =
        comm.min(x_watched.processes.empty() ? ~std::uint64_t{0} : seen.samples);
    const std::uint64_t idle = comm.sum(x_watched.idle_bytes), peak = comm.sum(seen.peak_bytes);
    const std::uint64_t watched = comm.sum(std::uint64_t{x_watched.processes.size()});
    if (fewest == 0 || watched != x_watched.of) return std::nullopt;
    return core::SharedMemoryRecord{idle, peak, fewest};
}

core::ServingRecord Meter::serving(const comm::Comm& comm, std::uint64_t bytes) {
    x_begun = false;
    core::ServingRecord all;
    all.kind = "plain";
    all.memory = memory(comm);
    run::Laps laps;
    laps.add("stall", 0);
    for (const double step : x_steps) laps.add("stall", step);
    laps.add("cpu", x_cpu_s);
    const auto over = run::over_ranks(comm, laps);
    all.stall_s = over.at("stall").seconds;
    all.model.ranks = static_cast<std::uint64_t>(comm.size());
    all.model.cpu_s = over.at("cpu").seconds;
    all.memory_copy_s = copy_seconds(comm, bytes) * static_cast<double>(x_steps.size());
    all.files = x_files;
    std::vector<double> seconds;
    for (const core::FileTimeRecord& file : all.files) seconds.push_back(file.elapsed_s);
    comm.reduce(std::span(seconds), comm::Reduce::max);
    for (std::size_t i = 0; i < seconds.size(); ++i) all.files[i].elapsed_s = seconds[i];
    return all;
}

void Meter::add_to(const comm::Comm& comm, std::vector<core::StepRecord>& steps) const {
    std::vector<double> least = x_steps, sum = x_steps, most = x_steps;
    comm.reduce(std::span(least), comm::Reduce::min);
    comm.reduce(std::span(sum), comm::Reduce::sum);
    comm.reduce(std::span(most), comm::Reduce::max);
    for (core::StepRecord& step : steps) {
        const std::uint64_t end = std::min<std::uint64_t>(step.step + step.count, most.size());
        if (step.step >= end) continue;
        core::Spread all{least[step.step], 0, 0};
        for (std::uint64_t i = step.step; i < end; ++i) {
            all.min = std::min(all.min, least[i]);
            all.mean += sum[i] / comm.size() / static_cast<double>(end - step.step);
            all.max = std::max(all.max, most[i]);
        }
        step.stall_s = all;
    }
}

std::unique_ptr<run::Opener> measured(std::unique_ptr<run::Opener> opener, Meter& meter) {
    return std::make_unique<MeasuredOpener>(std::move(opener), meter);
}

}  // namespace tailrace::kernels::history
