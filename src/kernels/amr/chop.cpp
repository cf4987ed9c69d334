// SPDX-License-Identifier: Apache-2.0
// AMReX's way to chop a domain, and its file of boxes.
#include <algorithm>
#include <sstream>

#include "core/checked.hpp"
#include "core/config.hpp"
#include "kernels/amr/mesh.hpp"

namespace tailrace::kernels::amr {

namespace {

struct Cuts {
    std::int64_t unit = 1;    ///< all lengths are multiples of it
    std::int64_t blocks = 1;  ///< along the axis
    std::int64_t least = 0;   ///< units of a block
    std::int64_t longer = 0;  ///< so many blocks have one unit more
};

/// Lengths keep as many factors of 2 as the whole and the largest block have in common.
Cuts cuts_of(std::int64_t length, std::int64_t largest) {
    Cuts cuts{1, 1, length, 0};
    if (length <= largest) return cuts;
    while (length % 2 == 0 && largest % 2 == 0) {
        length /= 2;
        largest /= 2;
        cuts.unit *= 2;
    }
    cuts.blocks = (length + largest - 1) / largest;
    cuts.least = length / cuts.blocks;
    cuts.longer = length % cuts.blocks;
    return cuts;
}

struct Span {
    std::int32_t lo = 0, hi = 0;
};

/// From the low end, the longer blocks first.
std::vector<Span> spans_of(std::int32_t lo, const Cuts& cuts) {
    std::vector<Span> spans;
    std::int64_t at = lo;
    for (std::int64_t k = 0; k < cuts.blocks; ++k) {
        const std::int64_t length = (cuts.least + (k < cuts.longer ? 1 : 0)) * cuts.unit;
        spans.push_back(
            {static_cast<std::int32_t>(at), static_cast<std::int32_t>(at + length - 1)});
        at += length;
    }
    return spans;
}

std::vector<CellBox> chop_current(const CellBox& domain, const Cell& largest) {
    std::array<std::vector<Span>, 3> spans;
    for (std::size_t d = 0; d < 3; ++d)
        spans[d] = spans_of(domain.lo[d], cuts_of(domain.length(d), largest[d]));
    std::vector<CellBox> boxes;
    boxes.reserve(spans[0].size() * spans[1].size() * spans[2].size());
    for (const Span& z : spans[2])
        for (const Span& y : spans[1])
            for (const Span& x : spans[0])
                boxes.push_back({{x.lo, y.lo, z.lo}, {x.hi, y.hi, z.hi}});
    return boxes;
}

/// Axis by axis, from the high end and the longer blocks first; the pieces go behind all others,
/// and the lowest one stays in its place.
std::vector<CellBox> chop_of_2019(const CellBox& domain, const Cell& largest) {
    std::vector<CellBox> boxes{domain};
    for (std::size_t d = 0; d < 3; ++d) {
        const Cuts cuts = cuts_of(domain.length(d), largest[d]);
        const std::size_t before = boxes.size();
        boxes.reserve(before * static_cast<std::size_t>(cuts.blocks));
        for (std::size_t b = 0; b < before; ++b)
            for (std::int64_t k = 0; k + 1 < cuts.blocks; ++k) {
                const std::int64_t length = (cuts.least + (k < cuts.longer ? 1 : 0)) * cuts.unit;
                CellBox piece = boxes[b];
                piece.lo[d] = static_cast<std::int32_t>(piece.hi[d] - length + 1);
                boxes[b].hi[d] = piece.lo[d] - 1;
                boxes.push_back(piece);
            }
    }
    return boxes;
}

class GridFile {
public:
    GridFile(const std::string& text, const std::string& place) : x_lines(text), x_place(place) {}

    std::uint64_t count() {
        const core::Words words = numbers("(N 0, for N boxes");
        std::string why;
        const auto value = words.size() == 2 ? core::parse_number(words[0], why) : std::nullopt;
        if (!value) throw wrong("does not say how many boxes follow", "write it as (64 0");
        return *value;
    }

    CellBox box() {
        const core::Words words = numbers("a box");
        CellBox box;
        std::string why;
        for (std::size_t i = 0; i < 6 && words.size() == 9; ++i) {
            const auto value = core::parse_number(words[i], why);
            if (!value || *value >= most_cells) break;
            (i < 3 ? box.lo : box.hi)[i % 3] = static_cast<std::int32_t>(*value);
            if (i == 5 && !box.empty()) return box;
        }
        throw wrong("is no box of cells", "write it as ((0,0,0) (15,15,15) (0,0,0))");
    }

private:
    [[nodiscard]] core::Error wrong(const std::string& message, const std::string& remedy) const {
        return {core::Code::bad_input, core::in_quotes(x_line) + " " + message,
                x_place + ":" + std::to_string(x_number), remedy};
    }
    /// Of the next line that is not empty.
    core::Words numbers(const char* what) {
        constexpr auto between = [](char c) { return c == '(' || c == ')' || c == ','; };
        while (std::getline(x_lines, x_line)) {
            ++x_number;
            if (!x_line.empty() && x_line.back() == '\r') x_line.pop_back();
            std::string text = x_line;
            std::replace_if(text.begin(), text.end(), between, ' ');
            if (core::Words words = core::split_words(text); !words.empty()) return words;
        }
        x_line.clear();
        throw wrong(std::string("stands for ") + what + ": the file ends too early",
                    "write the box of the domain; (N 0; N boxes; )");
    }

    std::istringstream x_lines;
    std::string x_place, x_line;
    std::size_t x_number = 0;
};

}  // namespace

std::vector<CellBox> chop(const CellBox& domain, const Cell& largest, BoxOrder order) {
    return order == BoxOrder::current ? chop_current(domain, largest)
                                      : chop_of_2019(domain, largest);
}

Grids grids_from(const std::string& text, const std::string& place) {
    GridFile file(text, place);
    Grids grids{file.box(), {}};
    for (std::uint64_t left = file.count(); left > 0; --left) grids.boxes.push_back(file.box());
    return grids;
}

}  // namespace tailrace::kernels::amr
