// SPDX-License-Identifier: Apache-2.0
// The end of a file: closed by all ranks, its bytes counted, its length settled, published; or
// removed; or, where ranks may stand at different places in PnetCDF, left alone.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "formats/file/part_file.hpp"
#include "formats/mpiio/exchange.hpp"
#include "formats/mpiio/info.hpp"
#include "formats/pnetcdf/limits.hpp"
#include "formats/pnetcdf/sink.hpp"

namespace tailrace::formats::pnetcdf {

using core::Code;
using core::Error;

namespace {

constexpr std::array put_names = {"blocking", "aggregated", "buffered"};

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

}  // namespace

void Sink::publish() {
    const std::string name = x_target.path().string();
    if (!x_defined) {
        const auto scope = x_phases.enter("agree");
        x_comm.agree(Error(Code::wrong_call, "nothing was defined, so there is nothing to publish",
                           name, "call define() before close()"));
    }
    collective_step("close", "closing " + name, [&] {
        const auto looked = comm::Comm::caught([&] { look_at_open_file(); });
        const auto closed = comm::Comm::caught([&] { x_file.close(); });
        if (looked) throw Error(*looked);
        if (closed) throw Error(*closed);
    });
    x_target.hold_errors(false);  // from here on our own calls see their errors themselves
    poisoning(
        [&] {
            x_target.check_bytes(x_bytes_asked);
            settle_length();
            x_target.sync();
            x_target.publish();
        },
        false);  // PnetCDF holds the file no more
}

void Sink::look_at_open_file() {
    if (x_independent) x_file.end_independent();
    x_independent = false;
    if (x_buffer_bytes != 0) x_file.detach_buffer();
    x_buffer_bytes = 0;
    auto& settings = x_last.settings;
    settings["library"] = "PnetCDF " + nc::library_version();
    settings["cdf"] = std::to_string(x_file.format());
    settings["put"] = put_names[static_cast<std::size_t>(x_options.put)];
    settings["header_bytes"] = std::to_string(x_file.header_bytes());
    settings["header_extent_bytes"] = std::to_string(x_file.header_extent_bytes());
    x_last.hints = x_file.hints();
    const std::uint64_t in_file =
        x_record_dimension < 0 ? 0 : x_file.dimension_size(x_record_dimension);
    if (x_records > in_file) x_last.patch_records = x_records;
    std::uint64_t end = x_file.header_bytes(), first_record = UINT64_MAX;
    // The first ones stand for the others: a report of thousands of variables helps nobody.
    constexpr std::size_t most = 32;
    for (std::size_t i = 0; i < x_objects.size(); ++i) {
        const core::Object& object = x_objects[i];
        const std::uint64_t offset = x_file.offset_of(x_variables[i]);
        if (is_record(object))
            first_record = std::min(first_record, offset);
        else
            end = std::max(end, offset + rounded(object.bytes()));
        if (i >= most) continue;
        const std::string prefix = x_objects.size() == 1 ? "" : object.path + " ";
        settings[prefix + "offset_bytes"] = std::to_string(offset);
        settings[prefix + "fill"] = x_file.fills(x_variables[i]) ? "yes" : "no";
    }
    if (first_record != UINT64_MAX) {
        settings["record_bytes"] = std::to_string(x_file.record_bytes());
        settings["records"] = std::to_string(std::max(x_records, in_file));
        end = std::max(end, first_record + std::max(x_records, in_file) * x_file.record_bytes());
    }
    x_last.end_bytes = end;
}

// What nobody wrote at the end would be missing in the file, which readers take for damage.
void Sink::settle_length() {
    const auto phase = x_phases.enter("describe");
    const std::optional<Error> mine = comm::Comm::caught([&] {
        if (x_comm.rank() != 0) return;
        const Descriptor file(open_file(x_target.part(), O_RDWR));
        struct stat info {};
        if (!file.open() || ::fstat(file.get(), &info) != 0)
            throw system_error(errno, "cannot look at the file", x_target.part());
        if (x_last.patch_records != 0) {
            std::array<std::byte, 8> count{};  // big endian, behind the magic
            const std::size_t bytes = x_options.cdf == 5 ? 8 : 4;
            for (std::size_t b = 0; b < bytes; ++b)
                count[b] = static_cast<std::byte>(x_last.patch_records >> (8 * (bytes - 1 - b)));
            write_fully(file.get(), count.data(), bytes, 4, x_target.path());
        }
        if (static_cast<std::uint64_t>(info.st_size) >= x_last.end_bytes) return;
        if (::ftruncate(file.get(), static_cast<off_t>(x_last.end_bytes)) != 0)
            throw system_error(errno, "cannot make the file as long as its header says",
                               x_target.path());
    });
    const auto agreeing = x_phases.enter("agree");
    x_comm.agree(mine);
}

void Sink::discard() noexcept {
    // A lost file that was abandoned has no handle any more. One that was lost in step, by system
    // calls that were held, is closed by all ranks: nothing reaches the disk.
    x_file.cancel(x_requests);
    const auto ignored = comm::Comm::caught([&] { x_file.close(); });
    x_target.discard();
}

// PnetCDF keeps its file until the end of the process; MPI does not wait for it.
void Sink::abandon() noexcept {
    x_file.cancel(x_requests);
    x_file.release();
}

core::FileReport Sink::report() {
    core::FileReport report;
    x_target.report(report);
    report.bytes_logical = x_comm.sum(report.parts.empty() ? 0 : x_bytes_asked);  // discarded: none
    report.hints_in_force = x_last.hints;
    report.mpi_io = mpiio::mpi_io_name(x_last.hints, x_options.hints);
    report.settings = x_last.settings;
    say_how_collective(report);
    return report;
}

void Sink::say_how_collective(core::FileReport& report) const {
    const mpiio::Exchange exchange =
        mpiio::exchange_of(x_comm, x_target.writer(), x_bytes_asked + x_header_bytes, report);
    const std::string ending = x_options.collective ? "_all" : "";
    const std::uint64_t waits = x_comm.max(x_waits);
    const std::uint64_t calls = x_comm.max(x_calls);
    const std::string post = x_options.put == Put::buffered ? "ncmpi_bput_vara" : "ncmpi_iput_vara";
    report.data_mode = waits == 0 ? "ncmpi_put_vara" + ending : post + ", ncmpi_wait" + ending;
    report.settings["most_calls_of_a_rank"] = std::to_string(calls);
    report.settings["most_waits_of_a_rank"] = std::to_string(waits);
    if (exchange.wrote)
        report.data_mode += ", " + std::to_string(*exchange.wrote) + " of " +
                            std::to_string(x_comm.size()) + " ranks wrote";
    if (x_options.collective) {
        report.data_collective = exchange.collective;
        report.no_collective_cause = exchange.cause;
    } else {
        report.data_collective = false;
        report.no_collective_cause = "not asked for";
    }
}

}  // namespace tailrace::formats::pnetcdf
