// SPDX-License-Identifier: Apache-2.0
// A cell of the fault matrix: a run with one kind of failure at one point.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fault_run.hpp"
#include "hooks/posix/observer.hpp"
#include "mpi_test.hpp"

namespace fault_test {

/// System calls are counted, and faults are possible.
inline const bool counted = [] {
    hooks::posix::install();
    return true;
}();

/// What became of a run on this rank: "ok", or code and text of the Error.
inline std::string outcome(const comm::Comm& comm, const std::string& path, const Run& run,
                    const std::string& rules) {
    std::string text = "ok";
    hooks::posix::inject_faults(rules);
    try {
        (void)write_file(comm, path, run);
    } catch (const core::Error& error) {
        text = std::string(core::name(error.code())) + ": " + error.what();
    }
    hooks::posix::inject_faults("");
    return text;
}

/// Runs a cell and checks what must hold; prints what each rank ended with.
inline void check_cell(const comm::Comm& comm, const std::string& cell, const Run& run,
                const std::string& rules) {
    const std::string folder = test::shared_folder();
    const std::string path = folder + "/f.h5";
    const std::string text = outcome(comm, path, run, rules);
    const std::string short_text = text.substr(0, text.find(':'));
    const auto codes = comm.gather_text(short_text);
    std::string row;
    for (std::size_t r = 0; r < codes.size(); ++r) row += " " + std::to_string(r) + "=" + codes[r];
    if (comm.rank() == 0) MESSAGE(cell << " [" << rules << "]:" << row);
    INFO(cell << ": " << text);
    CHECK(text != "ok");
    CHECK(test::from_rank0(text) == text);
    CHECK(text.find("f.h5") != std::string::npos);
    comm.barrier();
    if (comm.rank() == 0) CHECK(std::filesystem::is_empty(folder));
    comm.barrier();
}

/// Ranks that write to the file in a phase of a run without faults: a fault on another one would
/// never come to pass.
inline std::vector<int> writers_in(const comm::Comm& comm, const std::string& phase, const Run& run) {
    const auto report = write_file(comm, test::shared_folder() + "/f.h5", run);
    std::string ranks;
    for (const core::WriterReport& writer : report.writers)
        if (const auto found = writer.by_phase.find(phase);
            found != writer.by_phase.end() && found->second.write.calls != 0)
            ranks += static_cast<char>('0' + writer.rank);
    std::vector<int> all;
    for (const char digit : test::from_rank0(ranks)) all.push_back(digit - '0');
    return all;
}

/// Full disk at once, a short write and then a full disk, a broken disk; on the first rank that
/// writes, on the last one, on all.
inline void check_writes(const comm::Comm& comm, const std::string& point, const std::string& phase,
                  const Run& run) {
    const std::vector<int> writing = writers_in(comm, phase, run);
    REQUIRE(!writing.empty());
    std::vector<std::string> ranks{"", "rank=" + std::to_string(writing.front()) + ","};
    if (writing.size() > 1) ranks.push_back("rank=" + std::to_string(writing.back()) + ",");
    for (const char* kind : {"errno=ENOSPC", "errno=ENOSPC,short=8", "errno=EIO"})
        for (const std::string& rank : ranks)
            check_cell(comm, point, run,
                       "op=write,path=*/f.h5.part,phase=" + phase + "," + rank + kind);
}

}  // namespace fault_test
