// SPDX-License-Identifier: Apache-2.0
#include "rule_cases.hpp"

namespace tailrace::intent::tests {

namespace {

constexpr std::uint64_t mib = 1048576, gib = 1073741824;

void collective(Profile& p) { hdf5_less_mpiio(p, 32, 1000, 256 * mib); }

void ompio(Profile& p) { p.files[0].mpiio->implementation = "OMPIO"; }

void given(Profile& p, const std::string& name) { p.files[0].mpiio->hints_given[name] = "7"; }

/// Written by 4 ranks through OMPIO, for 2 of 10 s of each.
void through_ompio(Profile& p) {
    hdf5_less_mpiio(p, 4, 8, 256 * mib);
    p.files[0].mpiio->implementation = "OMPIO";
    p.files[0].mpiio->writes->elapsed_s = 8;
}

/// A PnetCDF file of 32 ranks.
void pnetcdf(Profile& p) {
    collective(p);
    p.files[0].hdf5.reset();
    p.files[0].pnetcdf = PnetcdfFile{};
    p.files[0].pnetcdf->creates = 1;
    p.files[0].pnetcdf->collective_waits = p.files[0].pnetcdf->independent_waits = 0;
}

void opened_only(Profile& p) { p.files[0].pnetcdf->creates = 0; }

/// Variables of 1 KiB beside the one of 4 MiB.
void and_many_small(Profile& p) {
    for (int i = 0; i < 500; ++i)
        p.files[0].datasets.push_back(dataset("/small" + std::to_string(i), 128, 1));
}

}  // namespace

const std::vector<RuleCase>& hint_cases() {
    static const std::vector<RuleCase> cases{
        {"41", collective, "hint.cb_nodes", "program", [](Profile& p) { given(p, "cb_nodes"); }},
        {"41", collective, "hint.cb_nodes", "nodes", [](Profile& p) { p.run.nodes.reset(); }},
        {"41", collective, "hint.cb_nodes", "MPI-IO", ompio},
        {"42", collective, "hint.cb_buffer_size", "amount",
         [](Profile& p) { p.files[0].mpiio->writes->bytes = mib; }},
        {"42", collective, "hint.cb_buffer_size", "nodes",
         [](Profile& p) {
             p.run.nodes = 1;
             p.run.file_systems[0].type = "ext4";
         }},
        {"42", collective, "hint.cb_buffer_size", "memory",
         [](Profile& p) { p.run.node_memory_bytes = 16 * 128 * mib; }},
        {"42", collective, "hint.cb_buffer_size", "stripe",
         [](Profile& p) {
             p.files[0].lustre = Lustre{8, 48 * mib, {}};
         }},
        {"43", collective, "hint.romio_cb_write", "MPI-IO", ompio},
        {"43", collective, "hint.romio_cb_write", "nodes",
         [](Profile& p) {
             p.run.nodes = 1;
             p.run.file_systems[0].type = "ext4";
         }},
        {"44",
         [](Profile& p) {
             collective(p);
             p.files[0].mpiio->views = 32;
         },
         "hint.romio_ds_write", "file system",
         [](Profile& p) { p.run.file_systems[0].type = "gpfs"; }},
        {"45",
         [](Profile& p) {
             collective(p);
             p.files[0].mpiio->views = 5000;
             p.files[0].mpiio->reads = MpiioTransfers{};
             p.files[0].mpiio->reads->independent = 1000;
             p.files[0].mpiio->reads->bytes = mib;
         },
         "hint.romio_ds_read", "serial", [](Profile& p) { p.files[0].hdf5->mpio = false; }},
        {"46",
         [](Profile& p) {
             hdf5_less_mpiio(p, 128, 1000, mib);
             p.files[0].hdf5.reset();
         },
         "hint.romio_no_indep_rw", "metadata", [](Profile& p) { p.files[0].hdf5 = Hdf5File{}; }},
        {"47", [](Profile& p) { hdf5_less_mpiio(p, 32, 1000, 2 * gib); }, "hint.striping_factor",
         "file system", [](Profile& p) { p.run.file_systems[0].type = "gpfs"; }},
        {"48",
         [](Profile& p) {
             p.run.ranks = 32;
             first(p).writes = accesses(1, {1024});
             p.files[0].lustre = Lustre{8, mib, {}};
         },
         "", "size", [](Profile& p) { first(p).writes->bytes = 20 * gib; }},
        {"49",
         [](Profile& p) {
             pnetcdf(p);
             p.files[0].pnetcdf->redefinitions = 1;
         },
         "PNETCDF_HINTS", "existing", opened_only},
        {"50", pnetcdf, "PNETCDF_HINTS", "existing", opened_only},
        {"50", pnetcdf, "PNETCDF_HINTS", "evidence",
         [](Profile& p) { p.files[0].pnetcdf->collective_waits.reset(); }},
        {"50", pnetcdf, "PNETCDF_HINTS", "evidence",
         [](Profile& p) { p.files[0].pnetcdf->independent_waits.reset(); }},
        {"50", pnetcdf, "PNETCDF_HINTS", "size", and_many_small},
        {"51",
         [](Profile& p) {
             pnetcdf(p);
             p.files[0].pnetcdf->collective_waits = 10;
             p.files[0].mpiio.reset();
             p.run.file_systems.push_back({"/local", "xfs", 4096});
             first(p).writes = accesses(20000, {10});
         },
         "PNETCDF_HINTS", "reliability", [](Profile&) {}},
        {"73",
         [](Profile& p) {
             pnetcdf(p);
             p.files[0].pnetcdf->collective_waits.reset();
             first(p).writes = accesses(10000, {10});
         },
         "", "", nullptr},
        {"52",
         [](Profile& p) {
             hdf5_less_mpiio(p, 1024, 1000, 200 * gib);
             p.files[0].hdf5.reset();
             p.files[0].pnetcdf = PnetcdfFile{};
             p.files[0].pnetcdf->creates = 1;
         },
         "PNETCDF_HINTS", "existing", opened_only},
        {"53", pnetcdf, "hint.cb_nodes", "program", [](Profile& p) { given(p, "cb_nodes"); }},
        {"77", through_ompio, "OMPI_MCA_io", "program",
         [](Profile& p) { p.origin.command = "mpiexec -n 4 --mca io ompio ./model"; }},
    };
    return cases;
}

}  // namespace tailrace::intent::tests
