// SPDX-License-Identifier: Apache-2.0
#include "runner/reads.hpp"

#include <filesystem>
#include <numeric>

#include "core/page_cache.hpp"
#include "runner/reading.hpp"

namespace tailrace::runner {

namespace {

struct Cache {
    std::string state, evidence;
};

/// Of all nodes; the first rank of each looks at the file, and drops it where that is asked for.
Cache look_at_cache(const comm::Comm& comm, const std::vector<std::string>& files, bool drop) {
    const bool looks = comm.split_node().rank() == 0;
    std::uint64_t pages = 0, resident = 0, unknown = 0;
    if (looks) {
        const auto failure = comm::Comm::caught([&] {
            for (const std::string& file : files) {
                if (std::filesystem::is_directory(file)) continue;  // its files follow
                if (drop) core::drop_pages(file);
                const core::Residency found = core::residency(file);
                pages += found.pages;
                resident += found.resident;
            }
        });
        if (failure) unknown = 1;
    }
    pages = comm.sum(pages);
    resident = comm.sum(resident);
    if (comm.sum(unknown) > 0) return {"unknown", "the files could not be looked at"};
    const std::string counted = std::to_string(resident) + " of " + std::to_string(pages) +
                                " pages of the file were in memory" +
                                (drop ? " after they were dropped" : "");
    // Some pages may have come back: others read too.
    if (drop && resident * 100 <= pages) return {"dropped", counted};
    if (drop) return {"warm", counted + ": this file system keeps them"};
    return {resident == 0 ? "unknown" : "warm", counted};
}

/// Times of the rounds on this rank, and what was asked for.
struct Timed {
    std::vector<double> rounds_s;
    std::uint64_t bytes = 0, requests = 0;
};

Timed read_all(const comm::Comm& comm, const Kernel& kernel, Opened& file,
               const std::vector<Request>& requests, std::span<std::byte> buffer,
               Comparison& comparison) {
    Timed timed;
    const std::uint64_t rounds = comm.max(requests.size());
    timed.rounds_s.reserve(rounds);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const Request none;
        const Request& mine = round < requests.size() ? requests[round] : none;
        comm.barrier();
        const double start = core::now_s();
        file.read_together(mine, buffer);
        timed.rounds_s.push_back(core::now_s() - start);
        std::span<const std::byte> values = buffer;
        for (const Piece& piece : mine) {
            const std::uint64_t bytes =
                piece.place.volume() * core::size_of(kernel.type(piece.object));
            comparison.compare(piece, values.first(static_cast<std::size_t>(bytes)));
            values = values.subspan(static_cast<std::size_t>(bytes));
            timed.bytes += bytes;
            ++timed.requests;
        }
    }
    return timed;
}

/// Whether a pattern read as much as it is about: what was written, everything, or something.
bool read_all_of(const Kernel& kernel, ReadPattern pattern, const core::ReadRecord& record) {
    if (pattern == ReadPattern::same || pattern == ReadPattern::shuffled)
        return record.bytes == kernel.bytes();
    if (pattern == ReadPattern::other) return record.elements == elements_of(kernel, false);
    return record.elements > 0;
}

}  // namespace

core::ReadRecord read_pattern(const comm::Comm& comm, const Kernel& kernel, ReadPattern pattern,
                              const std::vector<std::string>& files, core::Phases& phases,
                              std::span<std::byte> buffer) {
    const auto phase = phases.enter("read_back");
    core::ReadRecord record;
    record.pattern = name(pattern);
    const Cache cache = look_at_cache(comm, files, kernel.plan().cold_cache);
    record.cache = cache.state;
    record.cache_evidence = cache.evidence;
    Comparison comparison(kernel);
    for (std::uint64_t step = 0; step < kernel.steps(); step += kernel.steps_per_file()) {
        const std::vector<Request> requests = comm.agree_on([&] {
            return requests_of(kernel, pattern, step, static_cast<std::uint64_t>(comm.rank()),
                               buffer.size());
        });
        comm.barrier();
        const double start = core::now_s();
        Opened file(comm, kernel, step, phases);
        comm.barrier();
        record.open_s += comm.max(core::now_s() - start);
        Timed timed = read_all(comm, kernel, file, requests, buffer, comparison);
        comm.reduce(std::span(timed.rounds_s), comm::Reduce::max);
        record.elapsed_s += std::accumulate(timed.rounds_s.begin(), timed.rounds_s.end(), 0.0);
        record.bytes += comm.sum(timed.bytes);
        record.requests += comm.sum(timed.requests);
    }
    const core::VerificationRecord found = comparison.result(comm, 0);
    record.elements = found.elements;
    record.wrong = found.wrong;
    if (!read_all_of(kernel, pattern, record))
        throw core::Error(core::Code::verification,
                          "only " + std::to_string(record.elements) +
                              " elements were read in the pattern " + record.pattern,
                          kernel.plan().filename.string(), "please report it");
    return record;
}

}  // namespace tailrace::runner
