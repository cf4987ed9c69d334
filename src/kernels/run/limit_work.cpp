// SPDX-License-Identifier: Apache-2.0
#include "kernels/run/limit_work.hpp"

#include <span>

namespace tailrace::kernels::run {

std::vector<core::Write> writes_of(int rank, const Kernel& kernel, std::uint64_t step,
                                   std::span<const std::byte> data) {
    std::vector<core::Write> writes;
    const std::byte* at = data.data();
    for (const Piece& piece : kernel.pieces(static_cast<std::uint64_t>(rank), step)) {
        const core::Scalar type = kernel.type(piece.object);
        writes.push_back({static_cast<core::ObjectId>(piece.object), piece.place, at, {}, type});
        at += piece.place.volume() * core::size_of(type);
    }
    return writes;
}

formats::limit::Work limit_work(int rank, const Kernel& kernel, const Buffer& buffer) {
    formats::limit::Work work;
    work.objects = kernel.schema().objects;
    for (std::size_t i = 0; i < work.objects.size(); ++i)
        if (core::Extents chunk = kernel.chunk(i); !chunk.empty())
            work.chunks[work.objects[i].path] = std::move(chunk);
    work.steps = kernel.steps();
    work.data = std::span(buffer.values);
    work.writes = [&kernel, rank, data = work.data](std::uint64_t step) {
        return writes_of(rank, kernel, step, data);
    };
    work.collective = kernel.plan().collective();
    work.hints = kernel.plan().hints();
    return work;
}

}  // namespace tailrace::kernels::run
