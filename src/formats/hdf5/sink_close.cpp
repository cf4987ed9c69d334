// SPDX-License-Identifier: Apache-2.0
// The end of a file: closed by all ranks, its bytes counted, described by rank 0, published; or
// removed; or, where ranks may stand at different places in HDF5, left alone.
#include <algorithm>
#include <cstdlib>

#include "formats/file/companions.hpp"
#include "formats/hdf5/abandon.hpp"
#include "formats/hdf5/attributes.hpp"
#include "formats/hdf5/beneath.hpp"
#include "formats/hdf5/in_force.hpp"
#include "formats/hdf5/sink.hpp"

namespace tailrace::formats::hdf5 {

using core::Code;
using core::Error;

void Hdf5Sink::publish() {
    const h5::Quiet quiet;
    const std::string name = x_target.path().string();
    if (!x_file) {
        const auto scope = x_phases.enter("agree");
        x_comm.agree(Error(Code::wrong_call, "nothing was defined, so there is no file", name,
                           "call define() before close()"));
    }
    collective_step("close", "closing " + name, [&] {
        // A rank that fails here still closes, which is collective.
        const auto looked = comm::Comm::caught([&] {
            if (x_driver == Driver::subfiling)
                for (const core::Attribute& attribute : x_attributes)
                    write_attribute(x_file, attribute);
            look_at_open_file();
            if (x_driver == Driver::serial) try_to_close(x_file, name);
        });
        if (looked && x_driver == Driver::serial) throw Error(*looked);  // discard() closes it
        close_ids();
        if (looked) throw Error(*looked);
    });
    poisoning(
        [&] {
            verify_bytes();
            if (x_driver != Driver::subfiling) describe();
            x_target.sync();
            x_target.publish();
        },
        false);  // HDF5 holds the file no more
    x_closed = true;
    if (x_options.reassemble) reassemble();
}

void Hdf5Sink::reassemble() {
    const auto& settings = x_in_force.settings;
    const auto number = [&](const char* key) -> std::uint64_t {
        const auto found = settings.find(key);
        return found == settings.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
    };
    try {
        x_plain = reassembled(x_comm, x_target.path(), number("subfiles"),
                              number("subfile_stripe_bytes"), x_target.sets_aside(), x_phases);
    } catch (const Error& error) {
        x_lost = error;
        throw;
    }
}

void Hdf5Sink::look_at_open_file() {
    x_in_force = look(x_file, x_options, x_driver);
    if (x_options.filtered())
        for (const Dataset& dataset : x_datasets)
            x_in_force.stored_bytes += H5Dget_storage_size(dataset.id.get());
    remember_subfiles();
    if (x_driver == Driver::subfiling)
        x_in_force.settings.merge(subfiling_in_force(x_target.part()));
}

// By name, while the file from whose inode number they are made is still there.
void Hdf5Sink::remember_subfiles() {
    if (x_driver != Driver::subfiling || x_subfiles_known) return;
    for (const std::string& part : subfiles_of(x_target.part())) x_target.add_part(part);
    x_subfiles_known = true;
}

void Hdf5Sink::close_ids() {
    const std::string name = x_target.path().string();
    std::optional<Error> first;
    // All of them, also after a failure: the other ranks close theirs.
    for (Dataset& dataset : x_datasets) {
        const auto error = comm::Comm::caught(
            [&] { dataset.id.close("H5Dclose", name + ":" + dataset.object.path); });
        if (!first) first = error;
    }
    const auto error = comm::Comm::caught([&] { x_file.close("H5Fclose", name); });
    if (!first) first = error;
    if (first) throw Error(*first);
}

void Hdf5Sink::verify_bytes() {
    // What filters make of the elements is known for the whole file only.
    const std::uint64_t stored = x_comm.rank() == 0 ? x_in_force.stored_bytes : 0;
    x_target.check_bytes(x_options.filtered() ? std::min(stored, x_comm.sum(x_bytes_asked))
                                              : x_bytes_asked);
}

void Hdf5Sink::describe() {
    const std::string name = x_target.path().string();
    collective_step("describe", "describing " + name, [&] {
        if (x_comm.rank() != 0) return;
        h5::Id file =
            h5::open_file(x_target.part(), true, file_access(x_options, x_comm, Driver::serial));
        try {
            for (const core::Attribute& attribute : x_attributes) write_attribute(file, attribute);
            try_to_close(file, name);
        } catch (...) {
            give_up(redirect_plain_to_memory(file), true);
            throw;
        }
        // The first ones stand for the others: a report of thousands of datasets helps nobody.
        constexpr std::size_t most = 32;
        for (std::size_t i = 0; i < std::min(most, x_datasets.size()); ++i)
            look_at_dataset(file, x_datasets[i].object.path, x_datasets.size() == 1,
                            x_in_force.settings);
        file.close("H5Fclose", name);
    });
}

void Hdf5Sink::discard() noexcept {
    const h5::Quiet quiet;
    // A lost file that was abandoned has no ids any more. One that was lost in step, by system
    // calls that were held, is closed by all ranks: nothing reaches the disk.
    int real = -1;
    const auto failed = comm::Comm::caught([&] {
        if (x_driver == Driver::subfiling && x_file)
            for (const std::string& part : subfiles_of(x_target.part())) x_target.add_part(part);
        if (x_lost && x_driver == Driver::serial) real = redirect_plain_to_memory(x_file);
        close_ids();
    });
    x_target.discard();
    give_up(real, !failed);
}

void Hdf5Sink::abandon() noexcept {
    if (!shared()) return;  // nobody waits: discard() closes it
    if (x_driver == Driver::parallel) redirect_to_memory(x_file);
    remember_subfiles();
    for (Dataset& dataset : x_datasets) dataset.id.release();
    x_file.release();
}

}  // namespace tailrace::formats::hdf5
