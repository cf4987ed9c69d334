// SPDX-License-Identifier: Apache-2.0
#include "core/record.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>

namespace tailrace::core {

namespace {

double seconds(const ElapsedRecord& elapsed, LimitArm::Against against) {
    switch (against) {
        case LimitArm::Against::aggregate:
            return elapsed.aggregate_s;
        case LimitArm::Against::write:
            return elapsed.write_s;
        case LimitArm::Against::durable:
            break;
    }
    return elapsed.durable_s;
}

}  // namespace

std::optional<double> limit_ratio(const Record& record, const LimitArm& arm) {
    if (record.error || !record.bytes || !record.elapsed || arm.error) return std::nullopt;
    const double kernel_s = seconds(*record.elapsed, arm.against);
    if (kernel_s <= 0 || arm.elapsed_s <= 0 || arm.bytes == 0) return std::nullopt;
    return (static_cast<double>(record.bytes->logical) / kernel_s) /
           (static_cast<double>(arm.bytes) / arm.elapsed_s);
}

std::string new_run_id() {
    std::random_device random;
    std::array<char, 9> bits{};
    std::snprintf(bits.data(), bits.size(), "%08x", random());
    return utc_now() + "-" + host_name() + "-" + std::to_string(::getpid()) + "-" + bits.data();
}

}  // namespace tailrace::core
