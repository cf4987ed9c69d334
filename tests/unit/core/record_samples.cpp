// SPDX-License-Identifier: Apache-2.0
// Prints records for the test of the schema, as full, as empty and as failed as they get, or with
// an argument the schema.
#include "record_samples.hpp"

#include <iostream>

using namespace tailrace;

int main(int argc, char**) {
    if (argc > 1) {
        std::cout << core::record_json_schema();
        return 0;
    }
    const core::Record full = test::full_record();
    std::cout << core::to_json_line(full) << '\n';

    core::Record empty;
    empty.kernel = "seism";
    empty.run_id = core::new_run_id();
    empty.started = core::utc_now();
    std::cout << core::to_json_line(empty) << '\n';

    core::Record failed = full;
    failed.warm_up = true;
    failed.repetition = 0;
    failed.verification = {};
    failed.file.path = "/data/\xff\xfe.h5";
    failed.elapsed = {};
    failed.error = core::Error(core::Code::no_space, "disk is full", "/data/x.h5", "make room")
                       .seen_by(1, 2, 2);
    std::cout << core::to_json_line(failed) << '\n';
    return 0;
}
