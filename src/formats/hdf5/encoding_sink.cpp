// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/encoding_sink.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "formats/hdf5/attributes.hpp"
#include "formats/sink/settings.hpp"

namespace tailrace::formats::hdf5 {

using core::Error;

EncodingSink::EncodingSink(const comm::Comm& comm, const core::Target& target,
                           const Options& options, core::Phases& phases)
    : FileSink(comm, target, phases, Reserve::after_create), x_options(options) {
    const h5::Quiet quiet;
    x_can.records = true;
    x_can.filters = true;
    x_can.encoded_chunks = true;
    x_can.max_rank = H5S_MAX_RANK;
    x_target.hold_errors(true);
    create_file();
}

// Nothing below communicates: an exception that passes on this rank alone keeps nobody waiting.
EncodingSink::~EncodingSink() { discard_if_open(); }

template <class Work>
void EncodingSink::on_rank_0(const char* phase, const std::string& doing, Work&& work) {
    std::optional<Error> mine;
    if (x_comm.rank() == 0) {
        const auto scope = x_phases.enter(phase);
        mine = comm::Comm::caught(std::forward<Work>(work));
    }
    agree(mine, doing);
}

void EncodingSink::create_file() {
    const std::string name = x_target.path().string();
    on_rank_0("create", "creating " + name, [&] {
        const h5::Id access = file_access(x_options, x_comm, Driver::serial);
        x_driver.use(access);
        x_file = h5::create_file(x_target.part(), file_creation(x_options), access);
    });
    x_target.reserve_after_create();
    std::optional<Error> mine;
    {
        const auto scope = x_phases.enter("open_file");
        x_data = Descriptor(open_file(x_target.part(), O_RDWR));
        if (!x_data.open())
            mine = system_error(errno, "this rank cannot open the file", x_target.part());
    }
    agree(mine, "opening " + name);
}

void EncodingSink::check(const core::Schema& schema) const {
    const h5::Quiet quiet;
    check_schema(x_options, x_datasets, schema);
}

void EncodingSink::create(const core::Schema& schema) {
    const h5::Quiet quiet;
    const std::size_t before = x_datasets.size();
    for (const core::Object& object : schema.objects)
        x_datasets.push_back({{object, object.sizes()}, {}});
    on_rank_0("define", "creating the datasets of " + x_target.path().string(), [&] {
        for (std::size_t i = before; i < x_datasets.size(); ++i)
            x_datasets[i].id =
                create_dataset(x_file, x_datasets[i].object, x_options, Driver::serial);
    });
    x_attributes.insert(x_attributes.end(), schema.attributes.begin(), schema.attributes.end());
}

void EncodingSink::flush() {
    const h5::Quiet quiet;
    const std::string name = x_target.path().string();
    on_rank_0("flush", "flushing " + name, [&] { h5::flush(x_file, name); });
}

void EncodingSink::publish() {
    const h5::Quiet quiet;
    const std::string name = x_target.path().string();
    on_rank_0("describe", "describing " + name, [&] { describe(); });
    on_rank_0("close", "closing " + name, [&] {
        for (Dataset& dataset : x_datasets)
            dataset.id.close("H5Dclose", name + ":" + dataset.object.path);
        x_file.close("H5Fclose", name);
    });
    std::optional<Error> mine;
    // Network file systems report a failed write at close at the latest.
    if (::close(x_data.release()) != 0) mine = system_error(errno, "closing the file failed", name);
    agree(mine, "closing " + name);
    poisoning(
        [&] {
            x_target.check_bytes(x_bytes_encoded);
            x_target.sync();
            x_target.publish();
        },
        false);
}

void EncodingSink::describe() {
    for (const core::Attribute& attribute : x_attributes) write_attribute(x_file, attribute);
    x_in_force = look(x_file, x_options, Driver::serial);
    x_in_force.settings["driver"] = "rank-0-and-pwrite";
    constexpr std::size_t most = 32;  // the first ones stand for the others
    for (std::size_t i = 0; i < std::min(most, x_datasets.size()); ++i)
        look_at_dataset(x_file, x_datasets[i].object.path, x_datasets.size() == 1,
                        x_in_force.settings);
}

void EncodingSink::discard() noexcept {
    const h5::Quiet quiet;
    const auto ignored = comm::Comm::caught([&] {
        for (Dataset& dataset : x_datasets) dataset.id = h5::Id();
        x_file = h5::Id();
    });
    x_data.reset();
    x_target.discard();
}

core::FileReport EncodingSink::report() {
    core::FileReport report;
    x_target.report(report);
    std::uint64_t sums[] = {x_bytes_asked, x_chunks, x_put_together};
    x_comm.reduce(sums, comm::Reduce::sum);
    report.bytes_logical = report.parts.empty() ? 0 : sums[0];  // discarded: none
    x_in_force.settings["encode"] = "ranks";
    x_in_force.settings["chunks_encoded"] = std::to_string(sums[1]);
    x_in_force.settings["chunks_put_together"] = std::to_string(sums[2]);
    report.settings = broadcast_settings(x_comm, x_in_force.settings);
    if (sums[1] != 0) {
        report.data_collective = false;
        report.data_mode = "independent (whole chunks, by the ranks that encoded them)";
    }
    report.metadata_evidence = "metadata written by rank 0 alone";
    return report;
}

}  // namespace tailrace::formats::hdf5
