// SPDX-License-Identifier: Apache-2.0
// The file and its datasets: made by all ranks, or by rank 0 alone and then opened by all.
#include "formats/file/copy_file.hpp"
#include "formats/hdf5/attributes.hpp"
#include "formats/hdf5/open.hpp"
#include "formats/hdf5/sink.hpp"
#include "formats/mpiio/open_by_all.hpp"

namespace tailrace::formats::hdf5 {

namespace {

core::Target with_publish(core::Target target, const Options& options) {
    target.publish = publish_of(options, target.publish);
    return target;
}

}  // namespace

Hdf5Sink::Hdf5Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
                   core::Phases& phases)
    : Hdf5Sink(comm, target, options, phases, shared_driver(options)) {}

Hdf5Sink::Hdf5Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
                   core::Phases& phases, Driver driver)
    : FileSink(comm, with_publish(target, options), phases,
               driver == Driver::subfiling ? Reserve::check_only : Reserve::after_create),
      x_options(options),
      x_driver(driver) {
    const h5::Quiet quiet;
    x_can.records = options.subfiles == 0;
    x_can.filters = options.subfiles == 0;
    x_can.independent = !options.collective;
    x_can.max_rank = H5S_MAX_RANK;
    // A chunk stored by one rank alone must not change metadata that the others hold as well, nor
    // read any in a collective way: docs/developer/hdf5_failures.md, "Encoded chunks".
    x_can.encoded_chunks =
        options.subfiles == 0 &&
        (comm.size() == 1 || (!options.filtered() && options.alloc_time == AllocTime::early &&
                              !options.collective_metadata));
    x_transfer = transfer_list(shared() && options.collective);
    x_conversion.serve(x_transfer);
    x_target.hold_errors(true);
    if (!(options.precreate && shared())) create_file();
}

Hdf5Sink::~Hdf5Sink() { discard_if_open(); }

void Hdf5Sink::create_file() {
    const std::string name = x_target.path().string();
    mpiio::try_to_open(x_comm, x_phases, x_target.part(), "create");
    collective_step("create", "creating " + name, [&] {
        const h5::Id access = file_access(x_options, x_comm, x_driver);
        x_file = mpiio::open_by_all(x_comm, x_target.part(), [&](const auto& path) {
            if (x_options.append) return h5::open_file(path, true, access);
            return h5::create_file(path, file_creation(x_options), access);
        });
    });
    remember_subfiles();  // after an agreement: those of other ranks are there as well
    // Space set aside in the file that only names the subfiles would be missing for these.
    if (x_driver != Driver::subfiling) x_target.reserve_after_create();
}

void Hdf5Sink::check(const core::Schema& schema) const {
    const h5::Quiet quiet;
    check_schema(x_options, x_datasets, schema);
}

void Hdf5Sink::create(const core::Schema& schema) {
    const h5::Quiet quiet;
    x_long = false;
    if (x_options.append) return find_objects(schema);
    if (!x_file) {
        precreate(schema);
        open_objects(schema);
    } else {
        create_objects(schema);
    }
    x_attributes.insert(x_attributes.end(), schema.attributes.begin(), schema.attributes.end());
}

void Hdf5Sink::precreate(const core::Schema& schema) {
    const std::string name = x_target.path().string();
    collective_step("precreate", "creating " + name + " on rank 0", [&] {
        if (x_comm.rank() != 0) return;
        h5::Id file = h5::create_file(x_target.part(), file_creation(x_options),
                                      file_access(x_options, x_comm, Driver::serial));
        for (const core::Object& object : schema.objects)
            create_dataset(file, object, x_options, Driver::serial).close("H5Dclose", object.path);
        file.close("H5Fclose", name);
    });
    x_target.reserve_after_create();
}

void Hdf5Sink::open_objects(const core::Schema& schema) {
    const std::string name = x_target.path().string();
    mpiio::try_to_open(x_comm, x_phases, x_target.part(), "open_file");
    collective_step("open_file", "opening " + name, [&] {
        const h5::Id access = file_access(x_options, x_comm, x_driver);
        x_file = mpiio::open_by_all(x_comm, x_target.part(), [&](const auto& path) {
            return h5::open_file(path, true, access);
        });
    });
    open_datasets(schema);
}

void Hdf5Sink::open_datasets(const core::Schema& schema) {
    const std::string name = x_target.path().string();
    collective_step("open_dataset", "opening the datasets of " + name, [&] {
        for (const core::Object& object : schema.objects)
            x_datasets.push_back(
                {{object, object.sizes()},
                 h5::open_dataset(x_file, object.path, dataset_access(x_options, x_driver))});
    });
}

void Hdf5Sink::find_objects(const core::Schema& schema) {
    open_datasets(schema);
    const std::filesystem::path& name = x_target.path();
    collective_step("open_dataset", "looking at the datasets of " + name.string(), [&] {
        for (const Dataset& dataset : x_datasets)
            if (!has_fill(dataset.id, x_options, dataset.object))
                throw cannot_append(name, dataset.object.path, "its fill value is another one");
        for (const core::Attribute& attribute : schema.attributes)
            if (attribute.object != "/") check_same_attribute(x_file, attribute, name);
    });
}

void Hdf5Sink::create_objects(const core::Schema& schema) {
    collective_step("define", "creating the datasets of " + x_target.path().string(), [&] {
        for (const core::Object& object : schema.objects)
            x_datasets.push_back(
                {{object, object.sizes()}, create_dataset(x_file, object, x_options, x_driver)});
    });
}

}  // namespace tailrace::formats::hdf5
