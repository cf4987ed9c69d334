// SPDX-License-Identifier: Apache-2.0
// Writes a file with every kind of attribute, for test_hdf5_attributes.py:
// hdf5_attributes_writer FILE [subfile]
#include <cstdio>

#include "comm/mpi_comm.hpp"
#include "core/phases.hpp"
#include "formats/hdf5/open.hpp"

using namespace tailrace;
using core::Compound;
using core::CompoundMember;

namespace {

using U64s = std::vector<std::uint64_t>;
using Strings = std::vector<std::string>;

/// The attribute of the original seism kernel: its reader takes members by name and offset.
Compound classic() {
    Compound compound;
    compound.committed_as = "/seismCoreAttributes";
    compound.size = 184;
    compound.members = {{"name", 0, std::string("my_attr")},
                        {"processor_dims", 8, U64s{2, 2, 1}},
                        {"chunk_dims", 32, U64s{4, 5, 6}},
                        {"domain_dims", 56, U64s{8, 10, 12}},
                        {"simulation_time", 80, std::uint32_t{3}},
                        {"n_nodes", 84, std::uint32_t{0}},
                        {"collective_write", 92, std::int32_t{1}},
                        {"use_function_lib", 120, std::string("libplugins.so")},
                        {"use_function_argv", 144, std::string("1 1 1 1")}};
    return compound;
}

std::vector<core::Attribute> attributes() {
    return {{"/", "i32", std::int32_t{-5}},
            {"/", "u32", std::uint32_t{4000000000}},
            {"/", "i64", std::int64_t{-5000000000}},
            {"/", "u64", ~std::uint64_t{0}},
            {"/", "f64", 0.1},
            {"/", "text", std::string("blau und grün")},
            {"/", "empty", std::string()},
            {"/", "i64s", std::vector<std::int64_t>{-1, 2}},
            {"/", "i32s", std::vector<std::int32_t>{-1, 2}},
            {"/", "u64s", U64s{1, 2, 3}},
            {"/", "f64s", std::vector<double>{0.5, -1.5}},
            {"/", "texts", Strings{"1", "", "three words here"}},
            {"/", "none", U64s{}},
            {"/", "long", Strings(5000, "a text that makes the attribute larger than 64 KiB")},
            {"/group/d", "units", std::string("m s-1")},
            {"/group", "of_group", std::int32_t{7}},
            {"/", "simulation_attributes", classic()},
            {"/", "plain", std::string("C text"), true},
            {"/alone/inner", "of_empty_group", std::int32_t{8}}};
}

void write_file(const std::string& path, bool subfiling) {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    core::Phases phases;
    formats::hdf5::Options options;
    options.subfiles = subfiling ? 2 : 0;
    core::Target target;
    target.path = path;
    auto sink = formats::hdf5::open_sink(comm, target, options, phases);
    core::Object object;
    object.path = "/group/d";
    object.dims = {{4, false}};
    (void)sink->define({{object}, attributes(), {"/alone/inner"}});
    (void)sink->close(core::Outcome::publish);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    int provided = 0, status = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    try {
        write_file(argv[1], argc > 2);
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
