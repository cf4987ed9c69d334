// SPDX-License-Identifier: Apache-2.0
#include "runner/limit/limit.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace tailrace::runner::limit {

namespace {

namespace plain = formats::limit;
using Against = core::LimitArm::Against;

/// 0 ... count-1 in random order, the same on all ranks.
std::vector<std::size_t> shuffled(const comm::Comm& comm, std::size_t count) {
    const std::uint64_t seed =
        comm.broadcast_value(comm.rank() == 0 ? std::uint64_t{std::random_device()()} : 0U);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

/// The time of the kernel that does what the arm does.
Against against(const plain::Arm& arm) {
    if (arm.way == plain::Way::memory) return Against::write;
    return arm.synced ? Against::durable : Against::aggregate;
}

core::LimitArm measured(const comm::Comm& comm, const plain::Work& work, const plain::Arm& arm,
                        const std::filesystem::path& beside) {
    core::LimitArm one;
    one.name = plain::name(arm);
    one.against = against(arm);
    one.bytes = comm.sum(std::uint64_t{work.data.size()}) * work.steps;
    try {
        one.elapsed_s = plain::measure(comm, work, arm, beside);
    } catch (const core::Error& error) {  // on all ranks
        one.error = error;
    }
    return one;
}

}  // namespace

void run_beside(const comm::Comm& comm, const plain::Work& work,
                const std::filesystem::path& beside, const std::function<void()>& kernel,
                core::LimitRecord& record) {
    const std::vector<plain::Arm> arms = plain::arms();
    for (const std::size_t k : shuffled(comm, arms.size() + (kernel ? 1U : 0U))) {
        if (k == arms.size()) {
            record.order.emplace_back("kernel");
            kernel();
            continue;
        }
        record.order.push_back(plain::name(arms[k]));
        record.arms.push_back(measured(comm, work, arms[k], beside));
    }
    std::sort(record.arms.begin(), record.arms.end(),
              [](const core::LimitArm& a, const core::LimitArm& b) { return a.name < b.name; });
}

}  // namespace tailrace::runner::limit
