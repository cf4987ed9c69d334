// SPDX-License-Identifier: Apache-2.0
#include "runner/writing.hpp"

#include <ctime>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "core/known_phases.hpp"
#include "runner/lustre.hpp"

namespace tailrace::runner {

namespace {

/// Wall-clock time in stretches, each from the last rank in to the last rank out.
class Stretches {
public:
    Stretches(const comm::Comm& comm, core::Phases& phases) : x_comm(comm), x_phases(phases) {}
    void begin() {
        x_comm.barrier();
        x_start_s = core::now_s();
    }
    /// What a rank waits for the last one here is on the clock, so it belongs to a phase.
    void end() {
        const auto waiting = x_phases.enter("agree");
        x_comm.barrier();
        x_sum_s += core::now_s() - x_start_s;
    }
    [[nodiscard]] double seconds() const noexcept { return x_sum_s; }

private:
    comm::Comm x_comm;
    core::Phases& x_phases;
    double x_start_s = 0, x_sum_s = 0;
};

void sleep_for(double seconds) {
    timespec left{static_cast<time_t>(seconds), 0};
    left.tv_nsec = static_cast<long>((seconds - static_cast<double>(left.tv_sec)) * 1e9);
    while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

void emulate_computation(const Compute& compute, core::Phases& phases) {
    if (compute.seconds <= 0) return;
    const auto phase = phases.enter("compute");
    if (!compute.busy) {
        sleep_for(compute.seconds);
        return;
    }
    volatile double work = 1;
    for (const double end = core::now_s() + compute.seconds; core::now_s() < end;)
        for (int i = 0; i < 1000; ++i) work = work * 1.0000001 + 1e-9;
}

class Writer {
public:
    Writer(const comm::Comm& comm, const Kernel& kernel, core::Phases& phases, Buffer& buffer,
           Teller& teller, Written& written)
        : x_comm(comm),
          x_kernel(kernel),
          x_plan(kernel.plan()),
          x_phases(phases),
          x_buffer(buffer),
          x_teller(teller),
          x_stretches(comm, phases),
          x_steps(comm, kernel.steps(), x_plan.sync_each_step, x_plan.compute.seconds > 0),
          x_written(written) {}

    void write() {
        fill(0);
        x_teller.stage(Progress::Stage::create);
        x_written.clocks = begin_lines(x_comm, x_phases);
        x_stretches.begin();
        for (std::uint64_t step = 0; step < x_kernel.steps(); step += x_kernel.steps_per_file())
            write_file(step);
        for (auto& closing : x_closing) take_close([&] { return closing.wait(); });
        x_stretches.end();
        x_written.complete = true;
        x_written.phases = x_phases.times();
        x_written.durable_s = x_stretches.seconds();
        x_steps.reduce();
        x_written.write_s = x_steps.write_s();
        x_written.steps = x_steps.records();
    }

private:
    template <class Work>
    auto lap(const std::string& name, Work&& work) {
        const double start = core::now_s();
        auto result = work();
        x_written.laps.add(name, core::now_s() - start);
        return result;
    }

    void write_file(std::uint64_t first) {
        prepare(first);
        const double start = core::now_s();
        const double reserved = x_phases.seconds("reserve"), agreed = x_phases.seconds("agree");
        const auto sink = open(first);
        x_written.created = true;
        try {
            define_first(*sink, first);
            take_opening(core::now_s() - start, x_phases.seconds("reserve") - reserved,
                         x_phases.seconds("agree") - agreed);
            x_teller.stage(Progress::Stage::write);
            for (std::uint64_t step = first; step < file_end(x_kernel, first); ++step) {
                if (step > first) prepare(step);
                define_before(*sink, step);
                write_step(*sink, step);
            }
            x_teller.stage(Progress::Stage::close);
            close(*sink);
        } catch (const core::Error&) {
            discard(*sink);
            throw;
        }
    }

    [[nodiscard]] std::unique_ptr<core::Sink> open(std::uint64_t step) {
        const auto phase = x_phases.enter("create");  // also of the options that ranks compare
        return lap("create", [&] {
            return x_kernel.opener()->sink(x_comm, target_of(x_kernel, step), x_phases);
        });
    }

    void fill(std::uint64_t step) {
        fill_buffer(x_kernel, x_comm.rank(), step, x_phases, x_buffer);
        if (x_kernel.may_fail()) x_comm.agree(x_kernel.failure());
    }

    /// New data, the emulated computation and what the ranks tell each other, off the clock.
    void prepare(std::uint64_t step) {
        x_step = {};
        const bool computes = step > 0 && x_plan.compute.seconds > 0;
        const bool refills = step > 0 && x_kernel.differs_per_step();
        if (!computes && !refills && !x_steps.full()) return;
        x_stretches.end();
        if (x_steps.full()) x_steps.reduce();
        fill(step);
        const double before = x_phases.seconds("compute");
        if (computes) emulate_computation(x_plan.compute, x_phases);
        x_step.compute = x_phases.seconds("compute") - before;
        x_stretches.begin();
    }

    /// All objects; or, where they come with their steps, the attributes alone.
    void define_first(core::Sink& sink, std::uint64_t step) {
        x_schema = lap("schema", [&] { return x_kernel.schema_of(step); });
        x_ids.clear();
        if (x_kernel.objects_before(0) >= x_kernel.objects_before(x_kernel.steps())) {
            x_ids = lap("define", [&] { return sink.define(x_schema); });
            return;
        }
        core::Schema about;
        about.attributes = std::exchange(x_schema.attributes, {});
        (void)sink.define(about);
    }

    /// Where each rank sets space aside in a file of its own, the one that needs longest for that
    /// need not be the one that needs longest for the rest: its own time counts, and no waiting.
    void take_opening(double elapsed_s, double reserve_s, double agree_s) {
        if (x_kernel.file_per_process()) {
            x_written.open_s += elapsed_s - reserve_s - agree_s;
            return;
        }
        x_written.open_s += elapsed_s;
        x_written.set_aside_s += reserve_s;
    }

    void define_before(core::Sink& sink, std::uint64_t step) {
        const std::size_t until = std::min(x_kernel.objects_before(step), x_schema.objects.size());
        if (x_ids.size() >= until) return;
        const double start = core::now_s();
        core::Schema part;
        part.objects.assign(x_schema.objects.begin() + static_cast<std::ptrdiff_t>(x_ids.size()),
                            x_schema.objects.begin() + static_cast<std::ptrdiff_t>(until));
        for (const core::ObjectId id : sink.define(part)) x_ids.push_back(id);
        x_written.define_s += core::now_s() - start;
    }

    /// All that a Sink does with data: compressing it on the ranks is writing it, too.
    [[nodiscard]] double writing_s() const {
        return core::seconds_in(core::PhaseUse::writing, x_phases);
    }

    /// With data that waited for the close, and the copy of subfiles into one file. Not a rank's
    /// whole time without its own sync: while one rank syncs, describes or publishes, the others
    /// wait.
    [[nodiscard]] double closing_s() const {
        return core::seconds_in(core::PhaseUse::closing, x_phases) + writing_s();
    }

    [[nodiscard]] std::vector<LatePiece> make_late(std::uint64_t step) {
        if (!x_kernel.has_late_pieces()) return {};
        const auto phase = x_phases.enter("pack");
        return x_kernel.late_pieces(x_comm, step, x_buffer.values, x_written.laps);
    }

    void write_batch(core::Sink& sink, std::uint64_t step, std::size_t batch,
                     const std::vector<LatePiece>& late) {
        const std::string number = std::to_string(batch);
        const std::vector<core::Write> writes = lap("prepare " + number, [&] {
            std::vector<core::Write> mine;
            for (core::Write& write : writes_of(x_comm.rank(), x_kernel, step, x_buffer.values))
                if (x_kernel.batch_of(write.object) == batch) mine.push_back(std::move(write));
            for (const LatePiece& piece : late)
                if (x_kernel.batch_of(piece.object) == batch)
                    mine.push_back({static_cast<core::ObjectId>(piece.object),
                                    {{piece.offset}, {piece.bytes.size()}},
                                    reinterpret_cast<const std::byte*>(piece.bytes.data()),
                                    {},
                                    core::Scalar::u8});
            for (core::Write& write : mine) {
                write.object = x_ids[write.object];
                x_written.bytes_given += write.place.volume() * core::size_of(write.type);
            }
            return mine;
        });
        const double start = core::now_s();
        sink.write(writes);
        const double took = core::now_s() - start;
        x_written.laps.add("write " + number, took);
        x_written.data_written_at = std::time(nullptr);
    }

    void write_step(core::Sink& sink, std::uint64_t step) {
        const double write_before = writing_s();
        if (x_kernel.rearranges()) {
            const auto phase = x_phases.enter("pack");
            x_kernel.pack(x_buffer.kept, x_buffer.values);
        }
        const double started_s = core::now_s();
        const std::vector<LatePiece> late = make_late(step);
        for (std::size_t batch = 0; batch < x_kernel.batches(); ++batch)
            write_batch(sink, step, batch, late);
        sink.complete(step);
        x_step.write = writing_s() - write_before;
        if (x_plan.sync_each_step) {
            const double sync_before = x_phases.seconds("sync");
            sink.sync(core::Durability::durable).wait();
            x_step.sync = x_phases.seconds("sync") - sync_before;
        }
        x_steps.add(x_step);
        x_teller.step(core::now_s() - started_s);
    }

    void close(core::Sink& sink) {
        if (x_kernel.flushes()) {
            const double start = core::now_s();
            sink.sync(core::Durability::flushed).wait();
            x_written.flush_s += core::now_s() - start;
        }
        take_close([&] {
            auto posted = sink.post_close(core::Outcome::publish);
            if (!sink.can().async) return posted.wait();
            x_closing.push_back(std::move(posted));
            return core::FileReport{};
        });
    }

    template <class Close>
    void take_close(const Close& ended) {
        const double before = closing_s();
        core::FileReport report = ended();
        if (!report.path.empty()) x_written.report.join(std::move(report));
        x_written.any = true;
        x_written.close_s += closing_s() - before;
        x_written.laps.add("close", closing_s() - before);
    }

    void discard(core::Sink& sink) noexcept {
        try {
            core::FileReport failed = sink.close(core::Outcome::discard);
            if (x_written.report.path.empty()) x_written.report = std::move(failed);
        } catch (...) {  // the failure that led here is the one to tell
        }
    }

    const comm::Comm& x_comm;
    const Kernel& x_kernel;
    const Plan& x_plan;
    core::Phases& x_phases;
    Buffer& x_buffer;
    Teller& x_teller;
    Stretches x_stretches;
    StepTimes x_steps;
    StepSeconds x_step;
    std::vector<core::Pending<core::FileReport>> x_closing;  // of Sinks that close later
    Written& x_written;
    core::Schema x_schema;
    std::vector<core::ObjectId> x_ids;  ///< of the objects that are
};

}  // namespace

std::vector<core::Write> writes_of(int rank, const Kernel& kernel, std::uint64_t step,
                                   std::span<const std::byte> data) {
    std::vector<core::Write> writes;
    const std::byte* at = data.data();
    for (const Piece& piece : kernel.pieces(static_cast<std::uint64_t>(rank), step)) {
        const core::Scalar type = kernel.type(piece.object);
        writes.push_back({static_cast<core::ObjectId>(piece.object), piece.place, at, {}, type});
        at += piece.place.volume() * core::size_of(type);
    }
    return writes;
}

core::Target target_of(const Kernel& kernel, std::uint64_t step) {
    const Plan& plan = kernel.plan();
    core::Target target;
    target.path = kernel.file_of(step);
    target.existing = core::Existing::replace;
    if (plan.options.facts().keeps_name) target.publish = core::Publish::in_place;
    target.reserve_bytes = kernel.reserve_bytes();
    target.set_aside = plan.reserve;
    if (plan.striping.asked() && lfs_there())
        target.create = [striping = plan.striping](const std::filesystem::path& part) {
            set_striping(striping, part);
        };
    return target;
}

void values_of_step(const Kernel& kernel, std::uint64_t rank, std::uint64_t step,
                    std::span<std::byte> values) {
    for (Piece& piece : kernel.pieces(rank, step)) {
        piece.step = step;
        const std::uint64_t bytes = piece.place.volume() * core::size_of(kernel.type(piece.object));
        kernel.values(piece, values.first(static_cast<std::size_t>(bytes)));
        values = values.subspan(static_cast<std::size_t>(bytes));
    }
}

void fill_buffer(const Kernel& kernel, int rank, std::uint64_t step, core::Phases& phases,
                 Buffer& buffer) {
    if (buffer.filled && (buffer.step == step || !kernel.differs_per_step())) return;
    const auto phase = phases.enter("fill");
    values_of_step(kernel, static_cast<std::uint64_t>(rank), step, buffer.values);
    if (kernel.rearranges()) {
        buffer.kept.resize(buffer.values.size());
        kernel.keep(buffer.values, buffer.kept);
    }
    buffer.filled = true;
    buffer.step = step;
}

void write_file(const comm::Comm& comm, const Kernel& kernel, core::Phases& phases, Buffer& buffer,
                Teller& teller, Written& written) {
    Writer(comm, kernel, phases, buffer, teller, written).write();
}

}  // namespace tailrace::runner
