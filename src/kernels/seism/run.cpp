// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/run.hpp"

#include <filesystem>
#include <memory>
#include <new>

#include "core/log.hpp"
#include "core/units.hpp"
#include "kernels/seism/figures.hpp"
#include "kernels/seism/lustre.hpp"
#include "kernels/seism/reading.hpp"
#include "kernels/seism/repetition.hpp"
#include "kernels/seism/text.hpp"

namespace tailrace::kernels::seism {

namespace {

using core::Code;
using core::Error;
using core::Record;

Buffer make_buffer(const Inputs& inputs) {
    const std::uint64_t elements = inputs.geometry.elements_per_rank();
    try {
        Buffer buffer;
        buffer.values.resize(static_cast<std::size_t>(elements));
        return buffer;
    } catch (const std::exception&) {  // bad_alloc or length_error
        throw inputs.config.error(
            "domain",
            core::bytes_text(inputs.geometry.bytes_per_rank()) + " per rank could not be allocated",
            "choose a smaller domain");
    }
}

Error wrong_values(const Inputs& inputs, const core::VerificationRecord& found) {
    std::string message = std::to_string(found.wrong) + " of " + std::to_string(found.elements) +
                          " elements of " + object_path + " are wrong";
    if (found.wrong == 0)
        message = "only " + std::to_string(found.elements) + " elements were read";
    return {Code::verification, message, inputs.filename.string(),
            "the first ones are listed above; run it again with the same input to see whether the "
            "same ones are wrong"};
}

class Run {
public:
    Run(const comm::Comm& comm, const Inputs& inputs, const Software& software, const Say& say)
        : x_comm(comm),
          x_inputs(inputs),
          x_software(software),
          x_say(say),
          x_fill(make_fill(inputs.fill, inputs.geometry, inputs.plugin)) {}

    void all() {
        x_buffer = x_comm.agree_on([&] { return make_buffer(x_inputs); });
        x_run_id = x_comm.broadcast(x_comm.rank() == 0 ? core::new_run_id() : "");
        warn_without_lustre();
        tell(echo_text(x_inputs));
        const bool repeats = x_inputs.repeat > 0;
        for (std::uint64_t i = repeats ? 0 : 1; i <= (repeats ? x_inputs.repeat : 1); ++i) {
            remove_previous();
            if (repeats) tell(heading(i));
            repetition(i);
        }
        if (repeats) tell(summary_text(x_measured));
    }

private:
    void tell(const std::string& text) const {
        if (x_comm.rank() == 0 && x_say) x_say(text);
    }

    void warn_without_lustre() const {
        if (x_comm.rank() == 0 && x_inputs.striping.asked() && !lfs_there())
            core::log(core::LogLevel::warning,
                      "there is no program lfs on PATH: the file gets the default striping");
    }

    [[nodiscard]] std::string heading(std::uint64_t number) const {
        return std::string(80, '-') + "\n" +
               (number == 0 ? "Warm-up\n"
                            : "Repetition " + std::to_string(number) + " of " +
                                  std::to_string(x_inputs.repeat) + "\n");
    }

    /// A fresh file each time: the one of the last repetition goes before the clock starts.
    void remove_previous() {
        if (x_comm.rank() == 0)
            for (const std::string& file : x_previous) {
                std::error_code failed;
                std::filesystem::remove(file, failed);
            }
        x_previous.clear();
    }

    void repetition(std::uint64_t number) {
        Record record = record_frame(x_comm, x_inputs);
        record.run_id = x_run_id;
        record.repetition = number;
        record.warm_up = number == 0;
        record.context.mpi_library = x_software.mpi_library;
        record.context.hdf5_version = x_software.hdf5_version;
        Figures figures;
        try {
            figures = measure(record);
        } catch (const Error& error) {
            record.error = error;
            // Bad input that only the file system could tell: no run took place.
            if (core::exit_code(error.code()) != 2) append_if_possible(record);
            throw;
        }
        record.memory = memory_of(x_comm, x_inputs, x_software.after_init_bytes);
        if (record.verification.status == core::VerificationStatus::failed)
            record.error = wrong_values(x_inputs, record.verification);
        append(record);
        tell(results_text(x_inputs, record, figures));
        if (record.error) throw *record.error;
        if (!record.warm_up) x_measured.push_back(figures);
    }

    Figures measure(Record& record) {
        core::Phases phases;
        const Written written = write_file(x_comm, x_inputs, *x_fill, phases, x_buffer);
        x_previous = written.report.parts;
        x_previous.push_back(written.report.path.string());
        const Figures figures = figures_of(x_comm, written, phases);
        if (x_inputs.read_back) {
            x_buffer.filled = false;
            record.read_back = read_back(x_comm, x_inputs, phases, x_buffer.values);
        }
        if (x_inputs.verify) {
            x_buffer.filled = false;
            record.verification = verify(x_comm, x_inputs, *x_fill, phases, x_buffer.values);
        }
        take_written(x_comm, x_inputs, written, phases, figures, record);
        return figures;
    }

    void append(const Record& record) const {
        x_comm.agree_on([&] {
            if (x_comm.rank() == 0) core::append_line(x_inputs.results, core::to_json_line(record));
        });
    }

    /// The failure of the run is what must be told, not that of its Record.
    void append_if_possible(const Record& record) const noexcept {
        if (x_comm.rank() != 0) return;
        try {
            core::append_line(x_inputs.results, core::to_json_line(record));
        } catch (...) {
        }
    }

    comm::Comm x_comm;
    const Inputs& x_inputs;
    const Software& x_software;
    const Say& x_say;
    std::unique_ptr<Fill> x_fill;
    Buffer x_buffer;
    std::string x_run_id;
    std::vector<std::string> x_previous;
    std::vector<Figures> x_measured;
};

}  // namespace

std::string dry_run_text(const comm::Comm& comm, const Inputs& inputs) {
    comm.agree_on([&] { (void)make_fill(inputs.fill, inputs.geometry, inputs.plugin); });
    check_machine(comm, inputs);
    return "# effective configuration for " + std::to_string(inputs.geometry.ranks()) + " ranks, " +
           core::bytes_text(inputs.geometry.bytes()) + "; nothing was written\n" +
           inputs.config.listing();
}

void run(const comm::Comm& comm, const Inputs& inputs, const Software& software, const Say& say) {
    check_machine(comm, inputs);
    auto whole = comm.agree_on([&] { return std::make_unique<Run>(comm, inputs, software, say); });
    whole->all();
}

}  // namespace tailrace::kernels::seism
