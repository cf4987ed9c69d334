// SPDX-License-Identifier: Apache-2.0
#include "core/error.hpp"

#include <doctest/doctest.h>

#include <cerrno>

using namespace tailrace::core;

TEST_CASE("the text has place, message and remedy") {
    const Error error(Code::bad_input, "3 is odd", "run.in:4", "use an even number");
    CHECK(std::string(error.what()) == "run.in:4: 3 is odd\n       hint: use an even number");
    CHECK(std::string(Error(Code::io, "it broke").what()) == "it broke");
}

TEST_CASE("the text says which ranks saw it") {
    const Error error(Code::no_space, "disk is full", "f.h5", "make room");
    CHECK(std::string(error.seen_by(2, 1, 8).what()) ==
          "f.h5: disk is full (rank 2 of 8)\n       hint: make room");
    CHECK(std::string(error.seen_by(2, 4, 8).what()).find("(rank 2 of 8; also on 3 other ranks)") !=
          std::string::npos);
    const Error agreed = error.seen_by(2, 4, 8);
    CHECK(agreed.rank() == 2);
    CHECK(agreed.failed_ranks() == 4);
    CHECK(agreed.total_ranks() == 8);
    CHECK(error.rank() == -1);
}

TEST_CASE("an error survives the way to another rank") {
    const Error error(Code::no_space, "line 1\nline 2", "", "make room");
    const Error copy = Error::from_bytes(error.to_bytes());
    CHECK(copy.code() == Code::no_space);
    CHECK(std::string(copy.what()) == error.what());
    CHECK(Error::from_bytes({}).code() == Code::internal);
    CHECK(Error::from_bytes({std::byte{'x'}, std::byte{0}}).code() == Code::internal);
}

TEST_CASE("names of codes come back as codes") {
    for (int k = 0; k <= static_cast<int>(Code::unsupported); ++k) {
        const auto code = static_cast<Code>(k);
        CHECK(code_of(name(code)) == code);
    }
    CHECK_FALSE(code_of("nonsense").has_value());
}

TEST_CASE("codes decide the exit status") {
    CHECK(exit_code(Code::bad_input) == 2);
    CHECK(exit_code(Code::no_space_reserved) == 2);
    CHECK(exit_code(Code::bad_plugin) == 2);
    CHECK(exit_code(Code::no_space) == 1);
    CHECK(exit_code(Code::internal) == 1);
    CHECK(exit_code(Code::verification) == 3);
    CHECK(exit_code(Code::unsupported) == 4);
}

TEST_CASE("errno becomes a text and a code") {
    CHECK(describe_errno(ENOSPC) == "No space left on device (ENOSPC)");
    CHECK(describe_errno(999999).find("999999") != std::string::npos);
    CHECK(code_of_errno(ENOSPC) == Code::no_space);
    CHECK(code_of_errno(EDQUOT) == Code::no_space);
    CHECK(code_of_errno(EROFS) == Code::not_writable);
    CHECK(code_of_errno(ENOTDIR) == Code::no_such_directory);
    CHECK(code_of_errno(EIO) == Code::io);
}

TEST_CASE("once a file was created, a place that cannot be written is a failure of the run") {
    for (int number : {EROFS, EACCES, EPERM, ENOENT, EIO}) {
        const Error error = Error(code_of_errno(number), "x", "f.h5", "y").seen_by(1, 2, 4);
        CHECK(failed_in_run(error).code() == Code::io);
        CHECK(failed_in_run(error).rank() == 1);
        CHECK(failed_in_run(error).message() == "x");
    }
    CHECK(failed_in_run(Error(Code::no_space, "x")).code() == Code::no_space);
    CHECK(failed_in_run(Error(Code::bad_plugin, "x")).code() == Code::bad_plugin);
    CHECK(std::string(Error(Code::io, "m", "a").seen_by(0, 1, 1).with_where("b:1").what()) ==
          "b:1: m (rank 0 of 1)");
}

TEST_CASE("the nearest name is offered, a distant one is not") {
    const std::vector<std::string> keys{"chunk", "collective_write", "domain", "time"};
    CHECK(nearest("colective_write", keys) == "collective_write");
    CHECK(nearest("chnk", keys) == "chunk");
    CHECK(nearest("tim", keys) == "time");
    CHECK(nearest("velocity", keys).empty());
    CHECK(nearest("", keys).empty());
    CHECK(nearest("x", {}).empty());
}
