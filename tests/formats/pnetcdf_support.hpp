// SPDX-License-Identifier: Apache-2.0
// What the tests of format pnetcdf share: every way to write, and objects whose values tell their
// position.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cdf_oracle.hpp"
#include "formats/pnetcdf/open.hpp"
#include "formats_test.hpp"

namespace pnetcdf_test {

using namespace tailrace;
using namespace tailrace::test;
namespace pnetcdf = tailrace::formats::pnetcdf;
using core::Box;
using core::Code;
using core::Extents;
using core::Object;
using core::Outcome;
using core::Scalar;
using core::Schema;
using core::Write;

struct Way {
    std::string name;
    pnetcdf::Options options;
};

inline std::vector<Way> ways() {
    std::vector<Way> all;
    for (const bool collective : {true, false})
        for (const auto& [name, put] : {std::pair{"blocking", pnetcdf::Put::blocking},
                                        std::pair{"aggregated", pnetcdf::Put::aggregated},
                                        std::pair{"buffered", pnetcdf::Put::buffered}}) {
            pnetcdf::Options options;
            options.collective = collective;
            options.put = put;
            all.push_back(
                {std::string(name) + (collective ? ", collective" : ", independent"), options});
        }
    return all;
}

/// Exact in every type that the tests use it for.
inline double value_of(Scalar type, std::uint64_t index, std::uint64_t seed) {
    const std::uint64_t most = core::size_of(type) == 1   ? 113
                               : core::size_of(type) == 2 ? 30011
                                                          : 1000003;
    return static_cast<double>((index * 7919 + seed * 31 + 1) % most);
}

template <class Visit>
void with_type(Scalar type, Visit&& visit) {
    switch (type) {
        case Scalar::i8:
            return visit(std::int8_t{});
        case Scalar::u8:
            return visit(std::uint8_t{});
        case Scalar::i16:
            return visit(std::int16_t{});
        case Scalar::u16:
            return visit(std::uint16_t{});
        case Scalar::i32:
            return visit(std::int32_t{});
        case Scalar::u32:
            return visit(std::uint32_t{});
        case Scalar::i64:
            return visit(std::int64_t{});
        case Scalar::u64:
            return visit(std::uint64_t{});
        case Scalar::f32:
            return visit(float{});
        case Scalar::f64:
            return visit(double{});
    }
}

/// A piece with memory of its own, in an array with a margin where `margin` is not 0.
struct Piece {
    std::vector<std::byte> memory;
    Write write;

    Piece(core::ObjectId id, const Object& object, const Box& box, Scalar type, std::uint64_t seed,
          std::uint64_t margin = 0) {
        write = {id, box, nullptr, {}, type};
        Extents dims = box.count, offset(box.rank(), 0);
        for (std::size_t d = 0; d < dims.size(); ++d) {
            dims[d] += 2 * margin;
            offset[d] = margin;
        }
        if (margin != 0) write.memory = {dims, offset};
        std::uint64_t volume = 1;
        for (const std::uint64_t n : dims) volume *= n;
        memory.assign(volume * core::size_of(type), std::byte{0x5A});
        with_type(type, [&](auto number) {
            using Number = decltype(number);
            core::for_each_run({offset, box.count}, dims, [&](auto at, auto in_box, auto n) {
                for (std::uint64_t i = 0; i < n; ++i) {
                    const auto place = core::grid_position(in_box + i, box.count);
                    Extents whole = box.offset;
                    for (std::size_t d = 0; d < whole.size(); ++d) whole[d] += place[d];
                    const auto value = static_cast<Number>(
                        value_of(object.type, core::linear_index(whole, object.sizes()), seed));
                    std::memcpy(memory.data() + (at + i) * sizeof(Number), &value, sizeof value);
                }
            });
        });
        write.data = memory.data();
    }
};

inline std::vector<Write> writes_of(const std::vector<Piece>& pieces) {
    std::vector<Write> writes;
    for (const Piece& piece : pieces) {
        writes.push_back(piece.write);
        writes.back().data = piece.memory.data();  // it has moved with its vector
    }
    return writes;
}

inline std::uint64_t wrong_values(const cdf::Variable& variable, const Object& object,
                                  std::uint64_t seed) {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < variable.values.size(); ++i)
        if (variable.values[i] != value_of(object.type, i, seed)) ++wrong;
    return wrong + (variable.values.empty() ? 1 : 0);
}

inline std::unique_ptr<core::Sink> open(const std::string& path, const pnetcdf::Options& options,
                                        core::Phases& phases) {
    return pnetcdf::open_sink(world(), target_of(path), options, phases);
}

/// This rank's part along the first dimension.
inline Box my_rows(const Extents& dims, std::size_t axis = 0) {
    return core::cut(dims, axis, static_cast<std::uint64_t>(size()),
                     static_cast<std::uint64_t>(rank()));
}

/// Checks on rank 0 what the others wait for.
template <class Check>
void on_rank_0(Check&& check) {
    barrier();
    if (rank() == 0) check();
    barrier();
}

}  // namespace pnetcdf_test
