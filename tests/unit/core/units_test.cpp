// SPDX-License-Identifier: Apache-2.0
#include "core/units.hpp"

#include <doctest/doctest.h>

#include "core/error.hpp"

using namespace tailrace::core;

TEST_CASE("a rate is printed in both units, told apart") {
    CHECK(mib_per_s(450 * mebi / 1.11868) == "402.26 MiB/s");
    CHECK(mb_per_s(1e6) == "1 MB/s");
    CHECK(rate_text(mebi * 100) == "100 MiB/s (104.858 MB/s)");
}

TEST_CASE("sizes are printed exactly, and for a person") {
    CHECK(bytes_text(0) == "0 bytes");
    CHECK(bytes_text(1) == "1 byte");
    CHECK(bytes_text(1023) == "1023 bytes");
    CHECK(bytes_text(1024) == "1024 bytes (1 KiB)");
    CHECK(bytes_text(943718400) == "943718400 bytes (900 MiB)");
    CHECK(bytes_text(~0ULL) == "18446744073709551615 bytes (16 EiB)");
    CHECK(seconds_text(0.01286012) == "0.0128601 s");
}

TEST_CASE("sizes are read with exact units only") {
    CHECK(parse_bytes("4096", "x") == 4096);
    CHECK(parse_bytes("4096B", "x") == 4096);
    CHECK(parse_bytes("64KiB", "x") == 65536);
    CHECK(parse_bytes("16 MiB", "x") == 16777216);
    CHECK(parse_bytes("1kB", "x") == 1000);
    CHECK(parse_bytes("2GB", "x") == 2000000000);
    CHECK(parse_bytes("3TiB", "x") == 3ULL << 40);
    for (const char* wrong : {"", "-1", "+1", "1.5MiB", "64k", "64K", "64kib", "64 ", "64  KiB",
                              "1e3", "0x10", "MiB", " 1", "18446744073709551616", "16777216TiB"})
        CHECK_THROWS_AS((void)parse_bytes(wrong, "cb_buffer_size"), Error);
    CHECK_THROWS_WITH_AS((void)parse_bytes("64k", "cb_buffer_size"),
                         doctest::Contains("cb_buffer_size: \"64k\" has no unit that is known"),
                         Error);
}
