// SPDX-License-Identifier: Apache-2.0
// Units for persons. Inside the program there are only bytes, seconds and bytes per second.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tailrace::core {

inline constexpr double mebi = 1048576.0;  ///< 2^20, what "MiB" means
inline constexpr double mega = 1e6;        ///< 10^6, what "MB" means

/// Six significant digits, as the classic output prints numbers: "402.258", "0.0128601".  [local]
[[nodiscard]] std::string digits(double value);
/// "402.258 MiB/s".  [local]
[[nodiscard]] std::string mib_per_s(double bytes_per_s);
/// "421.798 MB/s".  [local]
[[nodiscard]] std::string mb_per_s(double bytes_per_s);
/// Both: "402.258 MiB/s (421.798 MB/s)".  [local]
[[nodiscard]] std::string rate_text(double bytes_per_s);
/// "943718400 bytes (900 MiB)"; below 1 KiB only the bytes.  [local]
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// "0.0128601 s".  [local]
[[nodiscard]] std::string seconds_text(double seconds);

/// Bytes of "4096", "64KiB" or "16 MB": digits and one of B, KiB, MiB, GiB, TiB (powers of 1024),
/// kB, MB, GB, TB (powers of 1000), spelled exactly.  [local]
/// @throws Error{Code::bad_input} naming `what`
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text, std::string_view what);

}  // namespace tailrace::core
