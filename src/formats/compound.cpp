// SPDX-License-Identifier: Apache-2.0
#include "formats/compound.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/error.hpp"

namespace tailrace::formats {

namespace {

using core::Code;
using core::Compound;
using core::CompoundMember;
using core::Error;

std::uint64_t stored_bytes(const CompoundMember& member) {
    return std::visit(
        [](const auto& value) -> std::uint64_t {
            return std::visit(
                [](const auto& inner) -> std::uint64_t {
                    using Inner = std::decay_t<decltype(inner)>;
                    if constexpr (std::is_same_v<Inner, std::string>)
                        return sizeof(char*);
                    else if constexpr (std::is_same_v<Inner, std::vector<std::string>>)
                        return inner.size() * sizeof(char*);
                    else if constexpr (std::is_arithmetic_v<Inner>)
                        return sizeof(Inner);
                    else
                        return inner.size() * sizeof(inner[0]);
                },
                value);
        },
        member.value);
}

}  // namespace

void check_compound(const Compound& compound, const std::string& where) {
    std::vector<const CompoundMember*> members;
    for (const CompoundMember& member : compound.members) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const auto* a, const auto* b) { return a->offset < b->offset; });
    std::uint64_t end = 0;
    for (const CompoundMember* member : members) {
        const std::uint64_t bytes = stored_bytes(*member);
        if (member->name.empty() || bytes == 0)
            throw Error(Code::bad_input, "a member of the compound has no name or no elements",
                        where, "leave it out");
        if (member->offset < end || member->offset > compound.size ||
            bytes > compound.size - member->offset)
            throw Error(Code::bad_input,
                        "member \"" + member->name + "\" at byte " +
                            std::to_string(member->offset) +
                            " overlaps another one or ends beyond " + std::to_string(compound.size),
                        where, "correct the offsets or the size of the compound");
        end = member->offset + bytes;
    }
    if (members.empty())
        throw Error(Code::bad_input, "a compound without members", where, "leave it out");
}

}  // namespace tailrace::formats
