// SPDX-License-Identifier: Apache-2.0
// Lists whose members know where they stand (`next`, and `before`: what leads to them), so that
// any of them is taken out without a look at the others.
#pragma once

namespace tailrace::hooks::vol {

template <typename Member>
void put_in(Member*& first, Member& member) {
    member.next = first;
    member.before = &first;
    if (first != nullptr) first->before = &member.next;
    first = &member;
}

template <typename Member>
void take_out(const Member& member) {
    *member.before = member.next;
    if (member.next != nullptr) member.next->before = member.before;
}

}  // namespace tailrace::hooks::vol
