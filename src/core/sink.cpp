// SPDX-License-Identifier: Apache-2.0
#include "core/sink.hpp"

#include "core/error.hpp"

namespace tailrace::core {

void Sink::write_encoded(std::span<const EncodedChunk> chunks) {
    if (chunks.empty()) return;
    throw Error(Code::wrong_call, "this format cannot store chunks that were compressed elsewhere",
                "", "ask can().encoded_chunks first, or write() the elements");
}

}  // namespace tailrace::core
