// SPDX-License-Identifier: Apache-2.0
// A cell of a fault matrix: a file is written while faults are injected. All ranks must get the
// same Error, none may hang, and nothing may be left under the final name nor beside it.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "comm/mpi_comm.hpp"
#include "core/sink.hpp"
#include "hooks/posix/observer.hpp"
#include "mpi_test.hpp"

namespace fault_test {

using namespace tailrace;

struct Writer {
    std::string name;  ///< of the file in a fresh folder
    std::function<core::FileReport(const comm::Comm&, const std::string&)> write;
};

/// What became of a run on this rank: "ok", or code and text of the Error.
inline std::string outcome(const comm::Comm& comm, const std::string& path, const Writer& writer,
                           const std::string& rules) {
    std::string text = "ok";
    hooks::posix::inject_faults(rules);
    try {
        (void)writer.write(comm, path);
    } catch (const core::Error& error) {
        text = std::string(core::name(error.code())) + ": " + error.what();
    }
    hooks::posix::inject_faults("");
    return text;
}

/// Runs a cell and checks what must hold; prints what each rank ended with.
inline void check_cell(const comm::Comm& comm, const std::string& cell, const Writer& writer,
                       const std::string& rules) {
    const std::string folder = test::shared_folder();
    const std::string text = outcome(comm, folder + "/" + writer.name, writer, rules);
    const std::string short_text = text.substr(0, text.find(':'));
    const auto codes = comm.gather_text(short_text);
    std::string row;
    for (std::size_t r = 0; r < codes.size(); ++r) row += " " + std::to_string(r) + "=" + codes[r];
    if (comm.rank() == 0) MESSAGE(cell << " [" << rules << "]:" << row);
    INFO(cell << ": " << text);
    CHECK(text != "ok");
    CHECK(test::from_rank0(text) == text);
    CHECK(text.find(writer.name) != std::string::npos);
    comm.barrier();
    if (comm.rank() == 0) CHECK(std::filesystem::is_empty(folder));
    comm.barrier();
}

/// Ranks that write to the file in a phase of a run without faults: a fault on another one would
/// never come to pass.
inline std::vector<int> writers_in(const comm::Comm& comm, const std::string& phase,
                                   const Writer& writer) {
    const auto report = writer.write(comm, test::shared_folder() + "/" + writer.name);
    std::string ranks;
    for (const core::WriterReport& one : report.writers)
        if (const auto found = one.by_phase.find(phase);
            found != one.by_phase.end() && found->second.write.calls != 0)
            ranks += static_cast<char>('0' + one.rank);
    std::vector<int> all;
    for (const char digit : test::from_rank0(ranks)) all.push_back(digit - '0');
    return all;
}

/// Full disk at once, a short write and then a full disk, a broken disk; on the first rank that
/// writes, on the last one, on all.
inline void check_writes(const comm::Comm& comm, const std::string& point, const std::string& phase,
                         const Writer& writer,
                         const std::vector<std::string>& kinds = {
                             "errno=ENOSPC", "errno=ENOSPC,short=3", "errno=EIO"}) {
    const std::vector<int> writing = writers_in(comm, phase, writer);
    REQUIRE(!writing.empty());
    std::vector<std::string> ranks{"", "rank=" + std::to_string(writing.front()) + ","};
    if (writing.size() > 1) ranks.push_back("rank=" + std::to_string(writing.back()) + ",");
    for (const std::string& kind : kinds)
        for (const std::string& rank : ranks)
            check_cell(
                comm, point, writer,
                "op=write,path=*/" + writer.name + ".part,phase=" + phase + "," + rank + kind);
}

}  // namespace fault_test
