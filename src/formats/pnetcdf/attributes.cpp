// SPDX-License-Identifier: Apache-2.0
#include "formats/pnetcdf/attributes.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "formats/netcdf_names.hpp"

namespace tailrace::formats::pnetcdf {

namespace {

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i) all += (i == 0 ? "" : text_separator) + texts[i];
    return all;
}

template <class Number>
bool fits_i32(Number value) {
    using Limits = std::numeric_limits<std::int32_t>;
    if constexpr (std::is_unsigned_v<Number>)
        return value <= static_cast<Number>(Limits::max());
    else
        return value >= Limits::min() && value <= Limits::max();
}

/// For CDF-1 and CDF-2.
template <class Number>
nc::Value narrowed(const std::vector<Number>& values) {
    if constexpr (std::is_signed_v<Number> && !std::is_same_v<Number, std::int64_t>) {
        return values;
    } else {
        if (std::all_of(values.begin(), values.end(), fits_i32<Number>)) {
            std::vector<std::int32_t> small;
            for (const Number value : values) small.push_back(static_cast<std::int32_t>(value));
            return small;
        }
        std::vector<double> exact;
        for (const Number value : values) exact.push_back(static_cast<double>(value));
        return exact;
    }
}

template <class Number>
nc::Value numbers(const std::vector<Number>& values, int cdf) {
    if (cdf == 5) return values;
    return narrowed(values);
}

nc::Value value_of(const core::AttributeScalar& scalar, int cdf) {
    return std::visit(
        [&](const auto& value) -> nc::Value {
            using Held = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Held, std::string>)
                return value;
            else
                return numbers(std::vector<Held>{value}, cdf);
        },
        scalar);
}

nc::Value value_of(const core::AttributeArray& array, int cdf) {
    return std::visit(
        [&](const auto& values) -> nc::Value {
            using Held = typename std::decay_t<decltype(values)>::value_type;
            if constexpr (std::is_same_v<Held, std::string>)
                return joined(values);
            else
                return numbers(values, cdf);
        },
        array);
}

}  // namespace

std::optional<nc::Value> value_of(const core::Attribute& attribute, int cdf) {
    if (const auto* scalar = std::get_if<core::AttributeScalar>(&attribute.value))
        return value_of(*scalar, cdf);
    if (const auto* array = std::get_if<core::AttributeArray>(&attribute.value))
        return value_of(*array, cdf);
    return std::nullopt;
}

}  // namespace tailrace::formats::pnetcdf
