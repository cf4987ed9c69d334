// SPDX-License-Identifier: Apache-2.0
// Memory of a node, the same over all faces.
#include "comm/shared_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "comm/channel.hpp"
#include "faces.hpp"

using namespace tailrace;
using comm::Comm;

namespace {

/// Blocks of this process that still have a name.
std::size_t named_blocks() {
    const std::string mine = "tailrace." + std::to_string(::getpid()) + ".";
    std::size_t count = 0;
    for (const auto& one : std::filesystem::directory_iterator("/dev/shm"))
        count += one.path().filename().string().starts_with(mine) ? 1U : 0U;
    return count;
}

std::byte mark(int writer, int owner, std::size_t i) {
    return static_cast<std::byte>(static_cast<std::size_t>(writer * 50 + owner * 7 + 1) + i);
}

}  // namespace

TEST_CASE("shared memory: all ranks see and write all parts, empty ones between them") {
    test::on_all_faces([](const Comm& all) {
        const auto bytes_of = [](int rank) {
            return rank % 2 == 0 ? std::size_t{0} : static_cast<std::size_t>(rank) * 3000;
        };
        const auto memory = all.share_memory(bytes_of(all.rank()));
        for (int r = 0; r < all.size(); ++r) {
            const auto part = memory.part(r);
            REQUIRE(part.size() == bytes_of(r));
            CHECK(std::ranges::all_of(part, [](std::byte b) { return b == std::byte{0}; }));
        }
        all.barrier();
        // In turns, each writes the part of the next, and all look.
        for (int writer = 0; writer < all.size(); ++writer) {
            const int owner = (writer + 1) % all.size();
            const auto part = memory.part(owner);
            if (all.rank() == writer)
                for (std::size_t i = 0; i < part.size(); ++i) part[i] = mark(writer, owner, i);
            all.barrier();
            bool right = true;
            for (std::size_t i = 0; i < part.size(); ++i)
                right = right && part[i] == mark(writer, owner, i);
            CHECK(right);
            all.barrier();
        }
    });
}

TEST_CASE("shared memory: nothing at all, and ranks that let go of it one after the other") {
    test::on_all_faces([](const Comm& all) {
        for (int r = 0; r < all.size(); ++r) CHECK(all.share_memory(0).part(r).empty());
        comm::Channel channel = all.channel();
        const int last = all.size() - 1;
        {
            const auto memory = all.share_memory(100);
            if (all.rank() == last) memory.part(0)[99] = std::byte{77};
            all.barrier();
            if (all.rank() == 0) {  // the others have let go of it
                for (int r = 1; r <= last; ++r) channel.wait(channel.receive(r, 1, {}));
                CHECK(memory.part(0)[99] == std::byte{77});
            }
        }
        if (all.rank() > 0) channel.wait(channel.send(0, 1, {}));
    });
}

TEST_CASE("shared memory: a rank reserves of its part what it uses, if there is so much") {
    test::on_all_faces([](const Comm& all) {
        constexpr std::uint64_t most = std::uint64_t{1} << 36U, used = 20000;
        const auto memory = all.share_memory(most, false);
        const int next = (all.rank() + 1) % all.size();
        memory.reserve(0, 5000);
        memory.reserve(5000, used);
        memory.part(all.rank())[used - 1] = mark(all.rank(), all.rank(), 0);
        all.barrier();
        CHECK(memory.part(next).size() == most);
        CHECK(memory.part(next)[used - 1] == mark(next, next, 0));
        const auto error = Comm::caught([&] { memory.reserve(used, most); });
        REQUIRE(error.has_value());
        CHECK(error->code() == core::Code::no_space);
        all.barrier();
    });
    CHECK(named_blocks() == 0);
}

TEST_CASE("shared memory: where one rank cannot have its part all hear of it, and nothing stays") {
    test::on_all_faces([](const Comm& all) {
        const auto asked = [&all](std::uint64_t bytes) {
            return all.rank() == all.size() - 1 ? bytes : std::uint64_t{10};
        };
        test::check_all_throw(all, core::Code::no_space, [&] {
            static_cast<void>(all.share_memory(asked(std::uint64_t{1} << 60U)));
        });
        test::check_all_throw(all, core::Code::bad_input, [&] {
            static_cast<void>(all.share_memory(asked(~std::uint64_t{0})));
        });
        CHECK(all.share_memory(10).part(0).size() == 10);
        all.barrier();
    });
    CHECK(named_blocks() == 0);
}
