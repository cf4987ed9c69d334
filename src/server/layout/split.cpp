// SPDX-License-Identifier: Apache-2.0
#include "server/layout/split.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace tailrace::server {

namespace {

using Ranks = std::vector<std::uint64_t>;

std::string count(std::uint64_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// The ranks of each node, in the order of the lowest.
std::vector<Ranks> ranks_by_node(std::span<const int> nodes) {
    std::vector<Ranks> all;
    std::map<int, std::size_t> known;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        const auto [node, is_new] = known.try_emplace(nodes[rank], all.size());
        if (is_new) all.emplace_back();
        all[node->second].push_back(rank);
    }
    return all;
}

/// What is to be shared out, and the words in which to say that there is not enough.
class Splitter {
public:
    Splitter(const Wanted& wanted, std::span<const int> nodes)
        : x_wanted(wanted), x_nodes(ranks_by_node(nodes)), x_size(nodes.size()) {}

    Split split() {
        if (!serve()) {
            take(x_split.model, 0, x_wanted.model ? x_wanted.model->number : x_size);
        } else if (separate()) {
            by_nodes();
        } else {
            by_ranks();
        }
        if (x_split.model.empty()) throw too_few("no rank is left for the model");
        finish();
        return std::move(x_split);
    }

private:
    [[nodiscard]] bool serve() const {
        return (x_wanted.servers && x_wanted.servers->number > 0) ||
               (x_wanted.server_nodes && x_wanted.server_nodes->number > 0);
    }
    /// Whole nodes serve, or a node has ranks of one kind only.
    [[nodiscard]] bool separate() const {
        if (x_wanted.server_nodes) return true;
        return x_wanted.isolate && (x_nodes.size() > 1 || !x_wanted.isolate_place.empty());
    }
    /// Where the requests stand.
    [[nodiscard]] std::string place() const {
        std::string all;
        for (const auto* one : {&x_wanted.model, &x_wanted.servers, &x_wanted.server_nodes})
            if (*one) all += (all.empty() ? "" : ", ") + (*one)->place;
        return all;
    }
    [[nodiscard]] core::Error too_few(const std::string& why) const {
        std::string message;
        if (x_wanted.model) message += count(x_wanted.model->number, "rank") + " for the model";
        if (serve())
            message += (message.empty() ? "" : " and ") +
                       (x_wanted.server_nodes ? count(x_wanted.server_nodes->number, "node")
                                              : count(x_wanted.servers->number, "rank")) +
                       " for servers";
        std::string remedy = "start more ranks, or ask for fewer";
        if (serve() && separate() && !x_wanted.server_nodes)
            remedy += ", or let model and servers share a node: --isolate_nodes false";
        return {core::Code::bad_input,
                "asked for: " + message + ", but the program runs with " + count(x_size, "rank") +
                    " on " + count(x_nodes.size(), "node") + ": " + why,
                place(), remedy};
    }

    /// Takes so many ranks, node by node from `first` on.
    /// @returns the node behind the last one touched
    std::size_t take(Ranks& to, std::size_t first, std::uint64_t number) {
        std::size_t node = first;
        for (; node < x_nodes.size() && number > 0; ++node) {
            const std::uint64_t some = std::min<std::uint64_t>(number, x_nodes[node].size());
            to.insert(to.end(), x_nodes[node].begin(),
                      x_nodes[node].begin() + static_cast<std::ptrdiff_t>(some));
            number -= some;
        }
        if (number > 0) throw too_few(count(number, "rank") + " too few");
        return node;
    }
    /// Nodes at the end of all that the servers need.
    [[nodiscard]] std::size_t nodes_of_servers() const {
        if (x_wanted.server_nodes)
            return std::min<std::uint64_t>(x_wanted.server_nodes->number, x_nodes.size());
        std::size_t nodes = 0;
        for (std::uint64_t ranks = 0; ranks < x_wanted.servers->number && nodes < x_nodes.size();)
            ranks += x_nodes[x_nodes.size() - ++nodes].size();
        return nodes;
    }
    [[nodiscard]] std::uint64_t ranks_of(std::size_t first, std::size_t last) const {
        std::uint64_t ranks = 0;
        for (std::size_t node = first; node < last; ++node) ranks += x_nodes[node].size();
        return ranks;
    }
    void by_nodes() {
        const std::size_t model_nodes = x_nodes.size() - nodes_of_servers();
        const std::size_t behind = take(
            x_split.model, 0, x_wanted.model ? x_wanted.model->number : ranks_of(0, model_nodes));
        std::uint64_t ranks = x_wanted.servers ? x_wanted.servers->number : 0;
        if (x_wanted.server_nodes) {
            const std::uint64_t left = x_nodes.size() - behind;
            if (x_wanted.server_nodes->number > left)
                throw too_few("the model leaves " + count(left, "whole node"));
            ranks = ranks_of(behind, behind + x_wanted.server_nodes->number);
        }
        take(x_split.servers, behind, ranks);
        x_split.isolated = true;
    }
    void by_ranks() {
        const std::uint64_t servers = x_wanted.servers->number;
        if (servers > x_size) throw too_few(count(servers - x_size, "rank") + " too few");
        Ranks all;
        const std::uint64_t model = x_wanted.model ? x_wanted.model->number : x_size - servers;
        if (model > x_size - servers)
            throw too_few(count(model - (x_size - servers), "rank") + " too few");
        take(all, 0, model + servers);
        const auto border = all.begin() + static_cast<std::ptrdiff_t>(model);
        x_split.model.assign(all.begin(), border);
        x_split.servers.assign(border, all.end());
    }
    void finish() {
        std::vector<bool> busy(x_size);
        for (Ranks* group : {&x_split.model, &x_split.servers}) {
            std::sort(group->begin(), group->end());
            for (const std::uint64_t rank : *group) busy[rank] = true;
        }
        for (std::uint64_t rank = 0; rank < x_size; ++rank)
            if (!busy[rank]) x_split.left_over.push_back(rank);
    }

    const Wanted& x_wanted;
    std::vector<Ranks> x_nodes;
    std::uint64_t x_size;
    Split x_split;
};

}  // namespace

Split split(const Wanted& wanted, std::span<const int> nodes) {
    return Splitter(wanted, nodes).split();
}

}  // namespace tailrace::server
