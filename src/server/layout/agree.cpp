// SPDX-License-Identifier: Apache-2.0
#include "server/layout/agree.hpp"

#include <unistd.h>

#include <cstring>

#include "core/config_values.hpp"

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

/// "npes_model 4, depth 3": what the command line gave, or "none".
std::string said(const core::Config& options) {
    core::Words all;
    for (const core::Setting& one : options.effective())
        if (one.source == core::Origin::command_line) all.push_back(one.key + " " + one.text);
    return all.empty() ? "none" : core::joined(all, ", ");
}

}  // namespace

Variables environment_of_process() {
    Variables all;
    for (char** one = environ; one != nullptr && *one != nullptr; ++one)
        if (const char* equals = std::strchr(*one, '='))
            all.emplace_back(std::string(*one, static_cast<std::size_t>(equals - *one)),
                             equals + 1);
    return all;
}

Agreed agree(const comm::Comm& world, const core::Words& words, const Variables& environment) {
    const comm::Comm node = world.split_node();
    const std::vector<int> nodes = world.gather_value(node.broadcast_value(world.rank()));
    Given mine =
        world.agree_on([&] { return given(words, world.rank() == 0 ? environment : Variables{}); });
    const std::string here = said(mine.options), root = world.broadcast(here);
    world.agree_on([&] {
        if (here != root)
            throw Error(Code::rank_mismatch,
                        "ranks have different options of the server: rank " +
                            std::to_string(world.rank()) + " has " + here + ", rank 0 has " + root,
                        "command line", "start all ranks with the same options of the server");
    });
    const std::string bytes = world.broadcast(world.agree_on([&] {
        if (world.rank() != 0) return std::string();
        const auto file = read_server_file(mine.options);
        const auto made = layout_of(std::move(mine.options), file, nodes).to_bytes();
        return std::string(reinterpret_cast<const char*>(made.data()), made.size());
    }));
    return {Layout::from_bytes(std::as_bytes(std::span(bytes))), std::move(mine.rest)};
}

}  // namespace tailrace::server
