// SPDX-License-Identifier: Apache-2.0
// A small MPI layer over doctest. Every rank runs every case; after each, all ranks agree on the
// verdict. The launcher starts as many ranks as CMake declared, or as the case itself states:
//
//   TAILRACE_MPI_TEST("box: halves cover the whole") {...}        on each of RANKS of the CMake
//   file TAILRACE_MPI_TEST(4, "box: one rank holds nothing") {...}     on 4 ranks only
//
// Inside: tailrace::test::rank(), size(), on_any_rank(), TAILRACE_CHECK_ALL_THROW(code,
// expression).
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "core/error.hpp"

namespace tailrace::test {

[[nodiscard]] int rank();                 ///< of this process in the test  [local]
[[nodiscard]] int size();                 ///< number of ranks of the test  [local]
[[nodiscard]] bool on_any_rank(bool b);   ///< true where any rank says so  [collective]
[[nodiscard]] bool on_all_ranks(bool b);  ///< true where all ranks say so  [collective]
void barrier();                           ///< all ranks arrive  [collective]
/// The text of rank 0, on all ranks.  [collective]
[[nodiscard]] std::string from_rank0(const std::string& text);
/// A fresh folder that all ranks see, the same path on all; removed when the test ends.
/// [collective]
[[nodiscard]] std::string shared_folder(const char* base = nullptr);

}  // namespace tailrace::test

#define TAILRACE_MPI_TEST_ANY(name) TEST_CASE(name)
#define TAILRACE_MPI_TEST_ON(ranks, name) TEST_CASE(name " [np=" #ranks "]")
#define TAILRACE_MPI_TEST_PICK(first, second, chosen, ...) chosen
#define TAILRACE_MPI_TEST(...)                                                               \
    TAILRACE_MPI_TEST_PICK(__VA_ARGS__, TAILRACE_MPI_TEST_ON, TAILRACE_MPI_TEST_ANY, unused) \
    (__VA_ARGS__)

/// Every rank must get a core::Error with this code; fails on all ranks where one did not.
#define TAILRACE_CHECK_ALL_THROW(expected_code, ...) \
    TAILRACE_CHECK_ALL_THROW_NAMING(expected_code, "", __VA_ARGS__)
/// The same, and that the text for a person names `expected_text`.
#define TAILRACE_CHECK_ALL_THROW_NAMING(expected_code, expected_text, ...)                        \
    do {                                                                                          \
        bool tailrace_thrown = false;                                                             \
        try {                                                                                     \
            static_cast<void>(__VA_ARGS__);                                                       \
        } catch (const ::tailrace::core::Error& error) {                                          \
            tailrace_thrown = true;                                                               \
            INFO(error.what());                                                                   \
            CHECK(::tailrace::core::name(error.code()) == ::tailrace::core::name(expected_code)); \
            CHECK(std::string(error.what()).find(expected_text) != std::string::npos);            \
        }                                                                                         \
        CHECK_MESSAGE(tailrace_thrown, "no exception on this rank");                              \
        CHECK_MESSAGE(::tailrace::test::on_all_ranks(tailrace_thrown), "no exception on a rank"); \
    } while (false)
