// SPDX-License-Identifier: Apache-2.0
// Which environment variables a Record may hold. Records are passed around and published; batch
// systems put credentials into the environment of every job.
#include <algorithm>
#include <array>

#include "core/context.hpp"

namespace tailrace::core {

namespace {

/// Families that hold settings only.
constexpr std::array<std::string_view, 14> families{
    "OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPICH_",  "MPIR_CVAR_", "ROMIO_",    "I_MPI_",
    "UCX_",      "HDF5_",     "H5FD_",     "NETCDF_", "PNETCDF_",   "TAILRACE_", "OMP_"};

/// Of batch systems only what is known to be harmless, by its full name.
constexpr std::array<std::string_view, 34> names{"LD_PRELOAD",
                                                 "SLURM_CLUSTER_NAME",
                                                 "SLURM_CPUS_ON_NODE",
                                                 "SLURM_CPUS_PER_TASK",
                                                 "SLURM_CPU_BIND",
                                                 "SLURM_CPU_BIND_TYPE",
                                                 "SLURM_DISTRIBUTION",
                                                 "SLURM_HINT",
                                                 "SLURM_JOBID",
                                                 "SLURM_JOB_ID",
                                                 "SLURM_JOB_NODELIST",
                                                 "SLURM_JOB_NUM_NODES",
                                                 "SLURM_JOB_PARTITION",
                                                 "SLURM_JOB_QOS",
                                                 "SLURM_MEM_BIND",
                                                 "SLURM_MEM_PER_CPU",
                                                 "SLURM_MEM_PER_NODE",
                                                 "SLURM_MPI_TYPE",
                                                 "SLURM_NNODES",
                                                 "SLURM_NPROCS",
                                                 "SLURM_NTASKS",
                                                 "SLURM_NTASKS_PER_NODE",
                                                 "SLURM_STEP_ID",
                                                 "SLURM_TASKS_PER_NODE",
                                                 "SLURM_THREADS_PER_CORE",
                                                 "PBS_JOBID",
                                                 "PBS_NP",
                                                 "PBS_NUM_NODES",
                                                 "PBS_NUM_PPN",
                                                 "PBS_QUEUE",
                                                 "LSB_DJOB_NUMPROC",
                                                 "LSB_JOBID",
                                                 "LSB_MCPU_HOSTS",
                                                 "LSB_QUEUE"};

/// Parts of names that say secret; the transports' one is the key of an Open MPI job.
constexpr std::array<std::string_view, 11> secret_parts{
    "KEY",  "TOKEN",   "SECRET", "PASS", "JWT",
    "CRED", "PRIVATE", "COOKIE", "AUTH", "PRECONDITION_TRANSPORTS",
    "_URI"};

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return result;
}

}  // namespace

bool is_recorded(std::string_view name, std::string_view value) {
    const std::string capital = upper(name);
    for (std::string_view part : secret_parts)
        if (capital.find(part) != std::string::npos) return false;
    // scheme://user:password@host
    const std::size_t address = value.find("://");
    if (address != std::string_view::npos && value.find('@', address) != std::string_view::npos)
        return false;
    return std::find(names.begin(), names.end(), name) != names.end() ||
           std::any_of(families.begin(), families.end(),
                       [&](std::string_view family) { return name.starts_with(family); });
}

}  // namespace tailrace::core
