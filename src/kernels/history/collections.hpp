// SPDX-License-Identifier: Apache-2.0
// Several collections of a model, each with files of its own, as the one file that a run sees. The
// objects of collection 2 are called /2/name there, and /name in its files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner/opener.hpp"

namespace tailrace::kernels::history {

/// "/2", or "" of one that is alone.  [local]
[[nodiscard]] std::string prefix_of(std::uint64_t collection, std::uint64_t collections);

/// The file of a collection, counted from 0, that goes with that of the first.
using Beside = std::function<std::filesystem::path(const std::filesystem::path&, std::size_t)>;

/// They are opened, written and ended in the order of `openers`; each gets an equal part of the
/// space that is set aside. One alone stays as it is.  [local]
[[nodiscard]] std::unique_ptr<runner::Opener> together(
    std::vector<std::unique_ptr<runner::Opener>> openers, Beside beside);

}  // namespace tailrace::kernels::history
