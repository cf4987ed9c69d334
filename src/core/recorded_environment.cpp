// SPDX-License-Identifier: Apache-2.0
// Which environment variables and words of the command a Record may hold. Records are passed around
// and published; batch systems put credentials into the environment of every job.
#include <algorithm>
#include <array>

#include "core/context.hpp"

namespace tailrace::core {

namespace {

/// Families that hold settings only. Of ours those of the kernels' keys: a key that does not exist
/// ends the program that has such a prefix.
constexpr std::array<std::string_view, 16> families{"OMPI_MCA_",
                                                    "PMIX_MCA_",
                                                    "PRTE_MCA_",
                                                    "MPICH_",
                                                    "MPIR_CVAR_",
                                                    "ROMIO_",
                                                    "I_MPI_",
                                                    "UCX_",
                                                    "HDF5_",
                                                    "H5FD_",
                                                    "NETCDF_",
                                                    "PNETCDF_",
                                                    "TAILRACE_SEISM_",
                                                    "TAILRACE_SLAB_",
                                                    "TAILRACE_PARTICLE_",
                                                    "OMP_"};

/// Of batch systems, and of ours, only what is known to be harmless, by its full name.
constexpr std::array<std::string_view, 41> names{"LD_PRELOAD",
                                                 "TAILRACE_BIN",
                                                 "TAILRACE_BUILD_DIR",
                                                 "TAILRACE_CACHE",
                                                 "TAILRACE_FAULT",
                                                 "TAILRACE_PLUGIN_DIR",
                                                 "TAILRACE_POSIX_REPORT",
                                                 "TAILRACE_RANKS_PER_NODE",
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

bool names_a_secret(std::string_view name) {
    const std::string capital = upper(name);
    return std::any_of(secret_parts.begin(), secret_parts.end(), [&](std::string_view part) {
        return capital.find(part) != std::string::npos;
    });
}

/// Whether what stands before an '@' may be user:password or scheme://secret; a password may hold
/// nearly everything. host:/path@version is a path.
bool may_be_a_login(std::string_view before) {
    const std::size_t blank = before.find_last_of(" \t\n");
    const std::string_view login =
        blank == std::string_view::npos ? before : before.substr(blank + 1);
    if (login.find("://") != std::string_view::npos) return true;
    for (std::size_t colon = login.find(':'); colon != std::string_view::npos;
         colon = login.find(':', colon + 1))
        if (colon > 0 && colon + 1 < login.size() && login[colon + 1] != '/') return true;
    return false;
}

/// Whether what stands before a '=' names a secret.
bool is_name_of_secret(std::string_view before) {
    const std::size_t end = before.find_last_of(" \t\n,;=/");
    return names_a_secret(end == std::string_view::npos ? before : before.substr(end + 1));
}

bool holds_a_secret(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view before = text.substr(0, at);
        if (text[at] == '@' && may_be_a_login(before)) return true;
        if (text[at] == '=' && is_name_of_secret(before)) return true;
    }
    return false;
}

/// "key=" of "key=value"; empty where what stands before the '=' is no plain word.
std::string key_of(std::string_view word) {
    const std::size_t plain =
        word.find_first_not_of("-_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const bool has_key = plain != std::string_view::npos && plain > 0 && word[plain] == '=';
    return std::string(has_key ? word.substr(0, plain + 1) : "");
}

}  // namespace

bool is_recorded(std::string_view name, std::string_view value) {
    const bool known = std::find(names.begin(), names.end(), name) != names.end() ||
                       std::any_of(families.begin(), families.end(), [&](std::string_view family) {
                           return name.starts_with(family);
                       });
    return known && !names_a_secret(name) && !holds_a_secret(value);
}

std::vector<std::string> without_secrets(const std::vector<std::string>& command) {
    std::vector<std::string> shown;
    bool next_is_secret = false;  // "--token", and then its value
    for (const std::string& word : command) {
        const bool is_secret = next_is_secret || holds_a_secret(word);
        shown.push_back(is_secret ? key_of(word) + "***" : word);
        next_is_secret =
            word.starts_with('-') && word.find('=') == std::string::npos && names_a_secret(word);
    }
    return shown;
}

}  // namespace tailrace::core
