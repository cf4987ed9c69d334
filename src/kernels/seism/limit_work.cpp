// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/limit_work.hpp"

#include <span>

#include "kernels/seism/schema.hpp"

namespace tailrace::kernels::seism {

formats::limit::Work limit_work(int rank, const Inputs& inputs, const Buffer& buffer) {
    formats::limit::Work work;
    work.object = schema_of(inputs).objects.front();
    if (inputs.chunk) {
        work.chunk = *inputs.chunk;
        work.chunk.insert(work.chunk.begin(), 1);
    }
    work.steps = inputs.geometry.steps;
    work.place = [&geometry = inputs.geometry, rank](std::uint64_t step) {
        return geometry.place_of(static_cast<std::uint64_t>(rank), step);
    };
    work.data = std::as_bytes(std::span(buffer.values));
    work.collective = inputs.collective();
    if (const formats::Hints* hints = formats::hints(inputs.options)) work.hints = *hints;
    return work;
}

}  // namespace tailrace::kernels::seism
