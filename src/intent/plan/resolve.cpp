// SPDX-License-Identifier: Apache-2.0
#include "intent/plan/resolve.hpp"

#include <bit>

namespace tailrace::intent::plan {

namespace {

Setting setting_of(const PlanView& plan, const PlanSetting& setting, const Value& value) {
    switch (keys()[setting.key].shape) {
        case Shape::flag:
            return value.number != 0;
        case Shape::real:
            return std::bit_cast<double>(value.number);
        case Shape::word:
            return std::string(plan.text(setting.text));
        case Shape::extents:
            return Extents(value.extents.begin(),
                           value.extents.begin() + static_cast<std::ptrdiff_t>(value.ndims));
        case Shape::number:
            break;
    }
    return value.number;
}

std::string name_of(const PlanView& plan, const PlanSetting& setting) {
    const std::string key(keys()[setting.key].name);
    const std::string_view hint = plan.text(setting.name);
    return hint.empty() ? key : std::string(hint_prefix).append(hint);
}

}  // namespace

std::vector<Resolved> resolve(const PlanView& plan, const std::string& file,
                              const std::string& dataset, const Surroundings& around,
                              Moment moment) {
    std::vector<Resolved> all;
    for (const PlanSetting* setting : find(plan, file, dataset, moment, 1).all()) {
        Resolved one{.key = name_of(plan, *setting), .rule = std::string(plan.text(setting->rule))};
        const Value value = value_of(plan, *setting, around);
        if (value.state == Value::State::good)
            one.value = setting_of(plan, *setting, value);
        else
            one.misfit = text(value.state);
        if (value.state == Value::State::beyond_extent && setting->function == 0) {
            const auto literal = plan.numbers(*setting);
            one.value = Extents(literal.begin(), literal.end());
        }
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace tailrace::intent::plan
