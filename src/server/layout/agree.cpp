// SPDX-License-Identifier: Apache-2.0
#include "server/layout/agree.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

/// One line per option that was given.
std::string lines_of(const core::Config& options) {
    std::string lines;
    for (const core::Setting& one : options.effective())
        lines += one.key + " " + one.text + " (" + one.place + ")\n";
    return lines;
}

void compare(const comm::Comm& world, const std::string& mine, const std::string& ours) {
    if (mine == ours) return;
    const auto differs = std::mismatch(mine.begin(), mine.end(), ours.begin(), ours.end());
    const auto line_at = [](const std::string& text, std::size_t at) {
        const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
        const std::string line = text.substr(begin, text.find('\n', begin) - begin);
        return line.empty() ? "none more" : line;
    };
    const auto at = static_cast<std::size_t>(differs.first - mine.begin());
    throw Error(Code::rank_mismatch,
                "ranks were given different options of the server: rank " +
                    std::to_string(world.rank()) + " has " + line_at(mine, at) + ", rank 0 has " +
                    line_at(ours, at),
                "command line and environment",
                "start all ranks with the same options and TAILRACE_SERVER_ variables");
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
    Given mine = world.agree_on([&] { return given(words, environment); });
    const std::string lines = lines_of(mine.options), of_root = world.broadcast(lines);
    world.agree_on([&] { compare(world, lines, of_root); });
    const std::string bytes = world.broadcast(world.agree_on([&] {
        if (world.rank() != 0) return std::string();
        const auto file = read_server_file(mine.options);
        const auto made = layout_of(std::move(mine.options), file, nodes).to_bytes();
        return std::string(reinterpret_cast<const char*>(made.data()), made.size());
    }));
    return {Layout::from_bytes(std::as_bytes(std::span(bytes))), std::move(mine.rest)};
}

}  // namespace tailrace::server
