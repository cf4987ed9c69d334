// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/context.hpp"
#include "core/results_file.hpp"
#include "runner/places.hpp"
#include "runner/run.hpp"

namespace tailrace::runner {

namespace {

void check_memory(const comm::Comm& comm, const Kernel& kernel) {
    const comm::Comm node = comm.split_node();
    const std::uint64_t bytes = kernel.bytes_per_rank() * (kernel.rearranges() ? 2 : 1);
    const std::uint64_t available = node.min(core::machine_memory().available_bytes);
    const std::uint64_t share = available / static_cast<std::uint64_t>(node.size());
    std::optional<core::Error> mine;
    if (available > 0 && bytes > share)
        mine = kernel.plan().config.error(
            kernel.size_key(),
            kernel.size_text() + " is " + std::to_string(bytes) + " bytes per rank, and " +
                std::to_string(node.size()) + " ranks share a node with " +
                std::to_string(available) + " bytes of free memory",
            kernel.smaller(share));
    comm.agree(mine);
}

/// What the chosen format could not hold, before any file is made; a dry run says the same.
void check_schema(const Kernel& kernel) {
    const core::Config& config = kernel.plan().config;
    try {
        kernel.opener()->check_schema(kernel.schema());
    } catch (const core::Error& error) {
        const bool grows =
            config.given("unlimited") && error.message().find("unlimited") != std::string::npos;
        const char* key = grows ? "unlimited" : config.given("cdf") ? "cdf" : "format";
        throw config.error(key, error.where() + ": " + error.message(), error.remedy(),
                           error.code());
    }
}

/// Before anything is written: what no pattern could read afterwards.
void check_reads(const Kernel& kernel) {
    const auto& reads = kernel.plan().reads;
    if (std::find(reads.begin(), reads.end(), ReadPattern::plane) == reads.end()) return;
    if (kernel.chooses(ReadPattern::plane)) return;
    for (const core::Object& object : kernel.schema().objects)
        if (object.dims.size() < 2)
            throw kernel.plan().config.error(
                "read", "a plane of " + object.path + ", which has one dimension",
                "take `plane` away, or read `points`");
}

}  // namespace

void check_machine(const comm::Comm& comm, const Kernel& kernel, Where where) {
    comm.agree_on([&] {
        check_schema(kernel);
        check_reads(kernel);
    });
    if (where == Where::here) check_memory(comm, kernel);
    comm.agree_on([&] {
        if (comm.rank() != 0) return;
        check_file_names(kernel);
        check_places(kernel);
        core::check_results_file(kernel.plan().results);
    });
}

}  // namespace tailrace::runner
