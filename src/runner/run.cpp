// SPDX-License-Identifier: Apache-2.0
#include "runner/run.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <set>

#include "core/checked.hpp"
#include "core/finished.hpp"
#include "core/log.hpp"
#include "core/results_file.hpp"
#include "core/units.hpp"
#include "formats/file/part_file.hpp"
#include "formats/limit/limit.hpp"
#include "runner/figures.hpp"
#include "runner/limit/limit.hpp"
#include "runner/lustre.hpp"
#include "runner/places.hpp"
#include "runner/reading.hpp"
#include "runner/reads.hpp"
#include "runner/text.hpp"
#include "runner/writing.hpp"

namespace tailrace::runner {

namespace {

using core::Code;
using core::Error;
using core::Record;

/// What the outputs of a run share.
struct Common {
    comm::Comm comm;
    const Software& software;
    const Say& say;
    const HowToRun& how;
    Buffer buffer{};
    std::string run_id{};
    bool ran_before = false;

    void tell(const std::string& text) const {
        if (comm.rank() == 0 && say && !text.empty()) say(text);
    }
};

Buffer make_buffer(const Kernel& kernel) {
    try {
        Buffer buffer;
        buffer.values.resize(static_cast<std::size_t>(kernel.bytes_per_rank()));
        return buffer;
    } catch (const std::exception&) {  // bad_alloc or length_error
        throw kernel.plan().config.error(
            kernel.size_key(),
            core::bytes_text(kernel.bytes_per_rank()) + " per rank could not be allocated",
            kernel.smaller(core::machine_memory().available_bytes));
    }
}

/// What the limit has to write to stand beside a kernel: the pieces of one rank, at their places in
/// the file, from `buffer`; kernel and buffer must outlive it. Mode and hints are the kernel's.
formats::limit::Work limit_work(int rank, const Kernel& kernel, const Buffer& buffer) {
    formats::limit::Work work;
    for (std::uint64_t step = 0; step < kernel.steps(); step += kernel.steps_per_file())
        for (core::Object& object : kernel.schema_of(step).objects) {
            const std::size_t number = work.objects.size();
            if (step > 0) object.path += " of step " + std::to_string(step);
            if (core::Extents chunk = kernel.chunk(number % kernel.schema().objects.size());
                !chunk.empty())
                work.chunks[object.path] = std::move(chunk);
            work.objects.push_back(std::move(object));
        }
    work.steps = kernel.steps();
    work.data = std::span(buffer.values);
    work.writes = [&kernel, rank, data = work.data,
                   in_file = kernel.schema().objects.size()](std::uint64_t step) {
        std::vector<core::Write> writes = writes_of(rank, kernel, step, data);
        for (core::Write& write : writes)
            write.object += static_cast<core::ObjectId>(step / kernel.steps_per_file() * in_file);
        return writes;
    };
    work.collective = kernel.plan().collective();
    work.hints = kernel.plan().hints();
    return work;
}

Error wrong_values(const Kernel& kernel, const core::VerificationRecord& found) {
    const std::vector<core::Object> objects = kernel.schema().objects;
    const std::string what = objects.size() == 1
                                 ? objects.front().path
                                 : "the " + std::to_string(objects.size()) + " objects";
    std::string message = std::to_string(found.wrong) + " of " + std::to_string(found.elements) +
                          " elements of " + what + " are wrong";
    if (found.wrong == 0)
        message = "only " + std::to_string(found.elements) + " elements were read";
    return {Code::verification, message, kernel.plan().filename.string(),
            "the first ones are listed above; run it again with the same input to see whether the "
            "same ones are wrong"};
}

/// An Error about the space for the file says how much would fit.
Error with_fitting_size(const Kernel& kernel, const Error& error) {
    if (error.code() != Code::no_space_reserved) return error;
    const auto folder = formats::folder_of(formats::follow_links(kernel.plan().filename));
    const std::uint64_t free = formats::free_bytes(folder);
    double share = 1;  // of it that the file may take
    if (core::collect_context(folder).file_system.type == "tmpfs") {
        const auto file = static_cast<double>(kernel.bytes());
        share = file / (file + static_cast<double>(kernel.ranks()) *
                                   static_cast<double>(kernel.bytes_per_rank()));
    }
    const std::string smaller =
        free == UINT64_MAX
            ? ""
            : kernel.smaller_file(static_cast<std::uint64_t>(static_cast<double>(free) * share));
    if (smaller.empty()) return error;
    return {error.code(), error.message(), error.where(), error.remedy() + "; " + smaller};
}

/// Whether the file of a target can be there.  [collective]
void check_place(const comm::Comm& comm, const Kernel& kernel, const core::Target& target) {
    try {
        kernel.opener()->check(comm, target, static_cast<int>(kernel.ranks()));
    } catch (const Error& error) {
        throw at_its_line(kernel.plan().config, with_fitting_size(kernel, error));
    }
}

/// Where files come one after the other: space for all of them, before the first is written. One
/// that is there already makes room when it is replaced, and is not counted.
void check_space_for_all(const Outputs& outputs) {
    const Kernel& kernel = *outputs.front();
    std::uint64_t files = 0, bytes = 0;
    for (const auto& one : outputs)
        for (std::uint64_t step = 0; step < one->steps(); step += one->steps_per_file()) {
            std::error_code ignored;
            if (std::filesystem::exists(one->file_of(step), ignored)) continue;
            bytes = core::checked_add(bytes, one->reserve_bytes(), kernel.size_key());
            ++files;
        }
    if (files < 2) return;
    const auto first = where_it_can_be_looked_at(kernel.plan(), kernel.file_of(0));
    const std::uint64_t free =
        formats::free_bytes(formats::folder_of(formats::follow_links(first)));
    if (bytes <= free) return;
    const double share = static_cast<double>(free) / static_cast<double>(bytes);
    const std::string smaller = kernel.smaller_file(
        static_cast<std::uint64_t>(share * static_cast<double>(kernel.reserve_bytes())));
    throw Error(Code::no_space_reserved,
                "too little disk space: " + std::to_string(bytes) + " bytes needed for " +
                    std::to_string(files) + " files, " + std::to_string(free) + " bytes free",
                kernel.plan().filename.string(),
                "free space there, or write to another file system" +
                    (smaller.empty() ? "" : "; " + smaller));
}

/// A failure after a run with the same inputs, or a file of this one, has ended well: no usage
/// error. That of a plugin, which may give up at any step, stays.
Error failed_in_repetition(const Error& error) {
    if (core::exit_code(error.code()) != 2 || error.code() == Code::bad_plugin) return error;
    const bool no_room = error.code() == Code::no_space_reserved;
    return error.with_code(no_room ? Code::no_space : Code::io);
}

/// One output of a kernel, over the repetitions.
class Output {
public:
    Output(Common& common, const Kernel& kernel)
        : x_common(common), x_comm(common.comm), x_kernel(kernel), x_plan(kernel.plan()) {}

    /// The run that is gone on with, or a new one; returns the repetitions that it lacks.
    std::vector<std::uint64_t> find_missing() {
        core::Finished found;
        const Record frame = frame_of_all();
        x_comm.agree_on([&] {
            if (x_common.how.resume && x_comm.rank() == 0)
                found = core::finished_run(x_plan.results, frame);
        });
        if (x_comm.rank() == 0 && !found.run_id.empty() && found.host != frame.context.host)
            core::log(core::LogLevel::warning, "the repetitions so far ran on " + found.host +
                                                   ", these run on " + frame.context.host);
        if (x_comm.rank() == 0 && x_common.how.resume)
            x_common.tell("Resumed: " + std::to_string(found.repetitions.size()) +
                          " repetitions are in " + x_plan.results.string() + "\n");
        if (x_common.run_id.empty())
            x_common.run_id =
                x_comm.broadcast(found.run_id.empty() ? core::new_run_id() : found.run_id);
        std::string done(std::max<std::uint64_t>(x_plan.repeat, 1), '-');
        for (const std::uint64_t number : found.repetitions)
            if (number >= 1 && number <= done.size()) done[number - 1] = '+';
        done = x_comm.broadcast(done);
        std::vector<std::uint64_t> missing;
        for (std::uint64_t k = 0; k < done.size(); ++k)
            if (done[k] == '-') missing.push_back(k + 1);
        return missing;
    }

    /// A fresh file each time: the one of the last repetition goes before the clock starts.
    void remove_previous() {
        if (x_comm.rank() == 0)
            for (const std::string& file : x_previous) {
                std::error_code failed;
                std::filesystem::remove_all(file, failed);
            }
        x_previous.clear();
    }

    /// @param rest  gets what is told when all outputs have been written, also after a failure
    void repetition(std::uint64_t number, std::string& rest) {
        Record record = frame_of_all();
        record.run_id = x_common.run_id;
        record.repetition = number;
        record.warm_up = number == 0;
        x_common.buffer.filled = false;
        Measured measured{teller(number)};
        try {
            measure(record, measured);
        } catch (const Error& error) {
            record.error = of_this_stage(error, measured.written);
        }
        take_rest(record, measured);
        // First what was measured: the Record may not be storable.
        if (measured.written.complete) {
            x_common.tell(x_kernel.classic_text(record, measured.figures));
            rest += results_text(x_kernel, record, measured.figures);
        }
        limit::Figures limits;
        limits.add(record);
        rest += limits.text();
        if (record.error) {
            // Bad input that only the file system could tell, or what this machine lacks: no run
            // took place.
            const int code = core::exit_code(record.error->code());
            const bool ran =
                measured.written.complete || (code != 2 && (code != 4 || measured.written.created));
            if (ran) append_if_possible(record);
            throw core::Error(*record.error);
        }
        append(record);
        x_common.ran_before = true;
        write_side_files(record, measured);
        measured.teller.stage(Progress::Stage::done);
        if (record.warm_up) return;
        if (measured.written.complete) x_measured.push_back(measured.figures);
        x_limits.add(record);
    }

    /// Of all measured repetitions.
    [[nodiscard]] std::string summary() const {
        return (x_measured.empty() ? "" : summary_text(x_measured)) + x_limits.text();
    }

    void warn_without_lustre() const {
        if (x_comm.rank() == 0 && x_plan.striping.asked() && !lfs_there())
            core::log(core::LogLevel::warning,
                      "there is no program lfs on PATH: the file gets the default striping");
    }

private:
    [[nodiscard]] Record frame_of_all() const {
        Record record = record_frame(x_comm, x_kernel);
        record.context.mpi_library = x_common.software.mpi_library;
        record.context.hdf5_version = x_common.software.hdf5_version;
        return record;
    }

    [[nodiscard]] Teller teller(std::uint64_t number) const {
        Progress frame;
        frame.repetition = number;
        frame.repetitions = std::max<std::uint64_t>(x_plan.repeat, 1);
        frame.warm_up = number == 0;
        frame.steps = x_kernel.steps();
        frame.step_bytes = x_kernel.bytes() / x_kernel.steps();
        return {x_common.how.watch, frame};
    }

    struct Measured {
        Teller teller;
        core::Phases phases{};
        Written written{};
        Figures figures{};
    };

    /// The kernel and, where it is asked for, the limit.
    void measure(Record& record, Measured& measured) {
        if (x_plan.limit == LimitMode::off) return measure_kernel(record, measured);
        fill_buffer(x_kernel, x_comm.rank(), 0, measured.phases, x_common.buffer);
        if (x_kernel.may_fail()) x_comm.agree(x_kernel.failure());
        const auto beside = x_comm.agree_on([&] { return formats::follow_links(x_plan.filename); });
        const auto kernel = [&] {
            measure_kernel(record, measured);
            measured.teller.stage(Progress::Stage::limit);  // the arms after it
        };
        measured.teller.stage(Progress::Stage::limit);
        limit::run_beside(x_comm, limit_work(x_comm.rank(), x_kernel, x_common.buffer), beside,
                          x_plan.limit == LimitMode::beside ? std::function<void()>(kernel)
                                                            : std::function<void()>(),
                          record.limit.emplace());
    }

    void measure_kernel(Record& record, Measured& measured) {
        core::Phases& phases = measured.phases;
        Written& written = measured.written;
        write_file(x_comm, x_kernel, phases, x_common.buffer, measured.teller, written);
        // The name goes first: whoever sees it sees all that belongs to it.
        x_previous.clear();
        for (std::uint64_t s = 0; s < x_kernel.steps(); s += x_kernel.steps_per_file())
            x_previous.push_back(formats::follow_links(x_kernel.file_of(s)).string());
        for (const std::string& part : written.report.parts)
            if (std::ranges::find(x_previous, part) == x_previous.end()) x_previous.push_back(part);
        measured.figures = figures_of(x_comm, written, phases);
        take_written(x_comm, x_kernel, written, measured.figures, record);
        if (x_plan.read_back) {
            x_common.buffer.filled = false;
            measured.teller.stage(Progress::Stage::read_back);
            record.read_back = read_back(x_comm, x_kernel, phases, x_common.buffer.values);
        }
        read_patterns(record, measured);
        if (!x_plan.verify) return;
        x_common.buffer.filled = false;
        measured.teller.stage(Progress::Stage::verify);
        core::VerificationRecord found = verify(x_comm, x_kernel, phases, x_common.buffer.values);
        if (x_kernel.may_fail()) x_comm.agree(x_kernel.failure());  // then nothing was compared
        record.verification = std::move(found);
        if (record.verification.status == core::VerificationStatus::failed)
            throw wrong_values(x_kernel, record.verification);
    }

    void read_patterns(Record& record, Measured& measured) {
        for (const ReadPattern pattern : x_plan.reads) {
            x_common.buffer.filled = false;
            measured.teller.stage(Progress::Stage::read_back);
            record.reads.push_back(read_pattern(x_comm, x_kernel, pattern, x_previous,
                                                measured.phases, x_common.buffer.values));
            if (x_kernel.may_fail()) x_comm.agree(x_kernel.failure());
            const core::ReadRecord& read = record.reads.back();
            if (read.wrong > 0)
                throw Error(Code::verification,
                            std::to_string(read.wrong) + " of " + std::to_string(read.elements) +
                                " elements that were read in the pattern " + read.pattern +
                                " are wrong",
                            x_plan.filename.string(),
                            "`verify` names the first ones; run it again with the same input to "
                            "see whether the same ones are wrong");
        }
    }

    /// The code depends on the stage: a place that cannot be written is bad input only until there
    /// is a file, and nothing is once there was one.
    [[nodiscard]] Error of_this_stage(Error error, const Written& written) const {
        if (x_common.ran_before || (written.any && !written.complete))
            error = failed_in_repetition(error);
        else if (written.created)
            error = core::failed_in_run(error);
        return at_its_line(x_plan.config, with_fitting_size(x_kernel, error));
    }

    /// What is known however it ended.
    void take_rest(Record& record, const Measured& measured) {
        const Written& written = measured.written;
        if (written.created && !written.complete && !written.report.path.empty())
            core::take_failed(record, written.report);
        record.phases =
            core::phases_of(x_comm.gather_text(core::phases_to_text(measured.phases.times())),
                            x_comm.gather_text(core::phases_to_text(written.phases)));
        record.time_lines = gathered_lines(x_comm, measured.phases, written.clocks, record.writers);
        record.memory = memory_of(x_comm, x_kernel, x_common.software.after_init_bytes);
    }

    void append(const Record& record) const {
        x_comm.agree_on([&] {
            if (x_comm.rank() != 0) return;
            try {
                core::append_line(x_plan.results, core::to_json_line(record));
            } catch (const Error& error) {
                throw Error(core::failed_in_run(error).code(),
                            "the run ended well, but its Record is lost: " + error.message(),
                            error.where(), "what was measured is printed above; " + error.remedy());
            }
        });
    }

    void write_side_files(const Record& record, const Measured& measured) const {
        if (record.warm_up || !measured.written.complete) return;
        x_comm.agree_on([&] {
            if (x_comm.rank() != 0) return;
            for (const SideFile& side : x_kernel.side_files(record, measured.figures)) {
                try {
                    write_side_file(side);
                } catch (const Error& error) {
                    throw Error(
                        core::failed_in_run(error).code(),
                        "the run ended well, but this file is not written: " + error.message(),
                        side.path.string(), "the figures are printed above; " + error.remedy());
                }
            }
        });
    }

    /// The failure of the run is what must be told first; that of its Record is a warning.
    void append_if_possible(const Record& record) const {
        if (x_comm.rank() != 0) return;
        try {
            core::append_line(x_plan.results, core::to_json_line(record));
        } catch (const std::exception& error) {
            core::log(core::LogLevel::warning,
                      std::string("the Record of the failed run is lost: ") + error.what());
        }
    }

    Common& x_common;
    const comm::Comm& x_comm;
    const Kernel& x_kernel;
    const Plan& x_plan;
    std::vector<std::string> x_previous;
    std::vector<Figures> x_measured;
    limit::Figures x_limits;
};

/// The repetitions, each of all outputs.
class Run {
public:
    Run(Common& common, const Outputs& kernels) : x_common(common), x_kernels(kernels) {
        for (const auto& kernel : kernels) x_outputs.emplace_back(common, *kernel);
    }

    void all() {
        const Plan& plan = x_kernels.front()->plan();
        x_common.buffer = x_common.comm.agree_on([&] { return make_buffer(*largest()); });
        std::vector<std::vector<std::uint64_t>> missing;
        std::set<std::uint64_t> numbers;
        for (Output& output : x_outputs) {
            missing.push_back(output.find_missing());
            numbers.insert(missing.back().begin(), missing.back().end());
        }
        x_outputs.front().warn_without_lustre();
        x_common.tell(x_kernels.front()->echo_text());
        if (numbers.empty())
            return x_common.tell("All repetitions are in " + plan.results.string() +
                                 " already: nothing to do\n");
        check_later_files();
        if (plan.repeat > 0) numbers.insert(0);
        for (const std::uint64_t number : numbers) one(number, missing);
        if (plan.repeat == 0) return;
        for (const Output& output : x_outputs) x_common.tell(output.summary());
    }

private:
    [[nodiscard]] const Kernel* largest() const {
        const Kernel* most = x_kernels.front().get();
        for (const auto& kernel : x_kernels)
            if (kernel->bytes_per_rank() > most->bytes_per_rank()) most = kernel.get();
        return most;
    }

    /// All but the very first, before which nothing is written: none is refused in mid-run.
    void check_later_files() const {
        for (const auto& kernel : x_kernels)
            for (std::uint64_t step = 0; step < kernel->steps(); step += kernel->steps_per_file())
                if (step > 0 || kernel != x_kernels.front())
                    check_place(x_common.comm, *kernel, target_of(*kernel, step));
    }

    [[nodiscard]] static std::string heading(std::uint64_t number, std::uint64_t repeat) {
        return std::string(80, '-') + "\n" +
               (number == 0 ? "Warm-up\n"
                            : "Repetition " + std::to_string(number) + " of " +
                                  std::to_string(repeat) + "\n");
    }

    void one(std::uint64_t number, const std::vector<std::vector<std::uint64_t>>& missing) {
        for (Output& output : x_outputs) output.remove_previous();
        const std::uint64_t repeat = x_kernels.front()->plan().repeat;
        if (repeat > 0) x_common.tell(heading(number, repeat));
        std::string rest;
        try {
            for (std::size_t i = 0; i < x_outputs.size(); ++i)
                if (number == 0 || std::ranges::count(missing[i], number) > 0)
                    x_outputs[i].repetition(number, rest);
        } catch (const Error&) {
            x_common.tell(rest);
            throw;
        }
        x_common.tell(x_kernels.back()->closing_text(x_common.comm));
        x_common.tell(rest);
    }

    Common& x_common;
    const Outputs& x_kernels;
    std::vector<Output> x_outputs;
};

}  // namespace

std::string dry_run_text(const comm::Comm& comm, const Outputs& outputs, Where where) {
    std::uint64_t bytes = 0;
    for (const auto& kernel : outputs) {
        const Plan& plan = kernel->plan();
        check_machine(comm, *kernel, where);
        bytes += kernel->bytes();
        for (std::uint64_t s = 0; s < kernel->steps(); s += kernel->steps_per_file()) {
            core::Target target = target_of(*kernel, s);
            target.path = where_it_can_be_looked_at(plan, target.path);
            if (where == Where::elsewhere) target.reserve_bytes = 0;
            check_place(comm, *kernel, target);
        }
    }
    if (where == Where::here) comm.agree_on([&] { check_space_for_all(outputs); });
    const Kernel& first = *outputs.front();
    return "# effective configuration for " + std::to_string(first.ranks()) + " ranks, " +
           core::bytes_text(bytes) + "; nothing was written\n" + first.plan().config.listing();
}

void run(const comm::Comm& comm, const Outputs& outputs, const Software& software, const Say& say,
         const HowToRun& how) {
    for (const auto& kernel : outputs) check_machine(comm, *kernel);
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        check_space_for_all(outputs);
        core::try_results_file(outputs.front()->plan().results);
        for (const auto& kernel : outputs) make_places(*kernel);
    });
    Common common{comm, software, say, how};
    Run(common, outputs).all();
}

}  // namespace tailrace::runner
