// SPDX-License-Identifier: Apache-2.0
// The recorder without HDF5: what it notes down in a process of its own, read back.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hooks/vol/record/recorder.hpp"
#include "intent/spool/merge.hpp"

namespace recorded {

namespace vol = tailrace::hooks::vol;
namespace spool = tailrace::intent::spool;
using Numbers = std::vector<std::uint64_t>;

/// A folder that goes with the test.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "spools-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::vector<std::filesystem::path> spools() const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator(path)) found.push_back(entry);
        return found;
    }
    [[nodiscard]] tailrace::intent::Profile profile() const {
        return spool::merge_folder(path, "a command");
    }
};

/// Runs `work` in a process that records into `folder` and ends without any clearing up.
inline void in_process(const Folder& folder, const char* mib, int rank,
                       const std::function<void()>& work, int expected_status = 0,
                       const char* mode = "record") {
    const pid_t child = fork();
    if (child == 0) {
        setenv("TAILRACE_MODE", mode, 1);
        setenv("TAILRACE_PROFILE_DIR", folder.path.c_str(), 1);
        setenv("TAILRACE_PROFILE_MIB", mib, 1);
        setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
        setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
        work();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != expected_status) throw std::runtime_error("the recording process failed");
}

inline tailrace::hooks::Took now() { return {vol::recorder::now(), vol::recorder::now()}; }

inline vol::FileEntry* open_file(const char* name, std::uint32_t ranks = 0) {
    vol::FileFacts facts;
    facts.created = true;
    facts.communicator_size = ranks;
    facts.driver = spool::driver_sec2;
    return vol::recorder::file_opened(name, facts, now());
}

inline vol::DatasetEntry* create(vol::FileEntry* file, const char* path, const Numbers& dims,
                                 const Numbers& chunk = {}) {
    bool known = false;
    vol::DatasetEntry* made = vol::recorder::dataset(file, path, nullptr, true, &known);
    vol::DatasetFacts facts;
    facts.rank = static_cast<std::uint32_t>(dims.size());
    facts.elements = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        facts.dims[d] = facts.largest[d] = dims[d];
        facts.elements *= dims[d];
    }
    facts.type_bytes = 8;
    facts.type_class = 1;
    facts.type_order = 0;
    facts.layout = chunk.empty() ? 1 : 2;
    facts.chunk_rank = static_cast<std::uint32_t>(chunk.size());
    for (std::size_t d = 0; d < chunk.size(); ++d) facts.chunk[d] = chunk[d];
    made = vol::recorder::describe(made, facts);
    vol::recorder::dataset_opened(made, true, now());
    return made;
}

/// A transfer of one regular place.
inline void move(vol::DatasetEntry* dataset, spool::Direction direction, const Numbers& start,
                 const Numbers& block, const Numbers& count = {}, const Numbers& stride = {}) {
    vol::ElementSet place;
    place.selection = spool::select_hyperslab;
    place.known = true;
    place.rank = static_cast<std::uint32_t>(start.size());
    vol::Transfer transfer;
    transfer.elements = 1;
    for (std::size_t d = 0; d < start.size(); ++d) {
        place.start[d] = start[d];
        place.block[d] = block[d];
        place.count[d] = count.empty() ? 1 : count[d];
        place.stride[d] = stride.empty() ? 1 : stride[d];
        transfer.elements *= place.block[d] * place.count[d];
    }
    transfer.direction = direction;
    transfer.place = &place;
    transfer.took = now();
    vol::recorder::begun(dataset, transfer.direction, transfer.collective);
    vol::recorder::transfer(dataset, transfer);
}
inline void write(vol::DatasetEntry* dataset, const Numbers& start, const Numbers& block,
                  const Numbers& count = {}, const Numbers& stride = {}) {
    move(dataset, spool::writes, start, block, count, stride);
}
inline void read(vol::DatasetEntry* dataset, const Numbers& start, const Numbers& block) {
    move(dataset, spool::reads, start, block);
}
inline void direct(vol::DatasetEntry* dataset, spool::Direction direction, const Numbers& offset) {
    vol::recorder::direct_chunk(dataset, direction, offset.data(), 100, now());
}

}  // namespace recorded
