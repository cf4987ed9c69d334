// SPDX-License-Identifier: Apache-2.0
#include "runner/chunks.hpp"

#include "core/checked.hpp"

namespace tailrace::runner {

namespace {

constexpr std::uint64_t largest_chunk_bytes = 4294967295;  // HDF5 keeps it in 32 bits

/// Where compression, or encoding by the ranks, was asked for.
std::string filter_place(const core::Config& config) {
    for (const char* key :
         {"deflate", "filter", "zfp", "zstd", "szip", "shuffle", "fletcher32", "encode"})
        if (config.given(key)) return config.place(key);
    return {};
}

}  // namespace

void check_chunk_size(const core::Config& config, const core::Extents& chunk,
                      std::uint64_t element_bytes) {
    core::Extents factors = chunk;
    factors.push_back(element_bytes);
    const std::uint64_t bytes = product(config, "chunk", factors);
    if (bytes <= largest_chunk_bytes) return;
    throw config.error("chunk",
                       "a chunk of " + by_x(chunk) + " elements has " + std::to_string(bytes) +
                           " bytes; HDF5 allows less than 4 GiB (4294967296)",
                       "choose a smaller chunk");
}

void settle_chunk(Plan& plan, std::optional<core::Extents>& chunk, const std::string& usage) {
    const formats::Facts facts = plan.options.facts();
    if (chunk && !facts.contiguous.empty()) {
        chunk.reset();
        plan.notes.push_back("chunk has no effect " + facts.contiguous);
    }
    if (facts.needs_chunks && !chunk && !facts.chooses_chunks)
        throw core::Error(core::Code::missing_key,
                          "compression works on chunks, but no chunk is given",
                          filter_place(plan.config), "add the line " + usage + " for example");
}

core::Extents padded(core::Extents dims, const core::Extents& chunk) {
    for (std::size_t d = 0; d < chunk.size(); ++d) {
        const std::uint64_t count = dims[d] / chunk[d] + (dims[d] % chunk[d] != 0 ? 1 : 0);
        dims[d] = core::checked_mul(count, chunk[d], "chunks");
    }
    return dims;
}

}  // namespace tailrace::runner
