// SPDX-License-Identifier: Apache-2.0
#include "comm/threads.hpp"
#include "faces.hpp"

void tailrace::test::on_all_faces(const std::function<void(const comm::Comm&)>& body) {
    body(comm::Comm::self());
    for (const int ranks : {1, 2, 4, 8}) comm::run_threads(ranks, body);
}
