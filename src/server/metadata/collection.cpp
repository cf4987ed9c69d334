// SPDX-License-Identifier: Apache-2.0
#include "server/metadata/collection.hpp"

#include <array>

#include "core/config.hpp"
#include "server/archive.hpp"

namespace tailrace::server {

namespace {

constexpr std::array<std::string_view, 3> formats = {"netcdf4", "cdf5", "hdf5"};
constexpr std::array<std::string_view, 3> policies = {"refuse", "replace", "append"};
constexpr std::array<std::string_view, 2> when_full = {"block", "error"};

template <class Enum, std::size_t N>
Enum word(const std::array<std::string_view, N>& words, std::string_view wanted,
          const std::string& kind) {
    std::string all;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i] == wanted) return static_cast<Enum>(i);
        names.emplace_back(words[i]);
        all += (i == 0 ? "" : ", ") + names.back();
    }
    const std::string guess = core::nearest(wanted, names);
    throw core::Error(core::Code::bad_input,
                      core::in_quotes(wanted) + " is no " + kind +
                          (guess.empty() ? "" : ". Did you mean " + core::in_quotes(guess) + "?"),
                      "", "one of " + all);
}

}  // namespace

std::string_view name(Format format) noexcept { return formats[static_cast<std::size_t>(format)]; }

Format format_of(std::string_view wanted) { return word<Format>(formats, wanted, "format"); }

IfExists if_exists_of(std::string_view wanted) {
    return word<IfExists>(policies, wanted, "policy for a file that exists");
}

WhenFull when_full_of(std::string_view wanted) {
    return word<WhenFull>(when_full, wanted, "policy for a full queue");
}

std::vector<std::byte> FileSpec::to_bytes() const { return archived(*this); }

FileSpec FileSpec::from_bytes(std::span<const std::byte> bytes) {
    return unarchived<FileSpec>(bytes);
}

}  // namespace tailrace::server
