// SPDX-License-Identifier: Apache-2.0
// A set of process ids that stays small for the usual case, all of 0..n-1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::intent {

/// Ids of processes as ascending ranges without gaps or overlaps between them.
class ProcessSet {
public:
    struct Range {
        std::uint64_t first = 0, last = 0;  ///< both belong to it
        friend bool operator==(const Range&, const Range&) = default;
    };

    ProcessSet() = default;
    /// The ids first..last.  [local]
    ProcessSet(std::uint64_t first, std::uint64_t last) { add(first, last); }

    void add(std::uint64_t id) { add(id, id); }         ///< [local]
    void add(std::uint64_t first, std::uint64_t last);  ///< first <= last  [local]
    void add(const ProcessSet& other);                  ///< [local]
    [[nodiscard]] bool empty() const noexcept { return x_ranges.empty(); }  ///< [local]
    [[nodiscard]] std::uint64_t size() const noexcept;                      ///< [local]
    [[nodiscard]] bool contains(std::uint64_t id) const noexcept;           ///< [local]
    /// True where an id is in both.  [local]
    [[nodiscard]] bool meets(const ProcessSet& other) const noexcept;
    [[nodiscard]] const std::vector<Range>& ranges() const noexcept {
        return x_ranges;
    }  ///< [local]
    static constexpr std::string_view pattern = "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$";
    /// "0-39,41"; empty for none.  [local]
    [[nodiscard]] std::string text() const;
    /// The inverse of text().  [local]
    /// @throws Error{Code::bad_input} without a place, where it is no such list
    [[nodiscard]] static ProcessSet parse(std::string_view text);

    friend bool operator==(const ProcessSet&, const ProcessSet&) = default;

private:
    std::vector<Range> x_ranges;
};

}  // namespace tailrace::intent
