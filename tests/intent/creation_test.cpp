// SPDX-License-Identifier: Apache-2.0
// Whether a run made a file, from what each source tells.
#include <algorithm>

#include <doctest/doctest.h>

#include "intent/intents/creation.hpp"
#include "rule_cases.hpp"

namespace tailrace::intent {

namespace {

using tests::file;

/// Of Darshan: H5F does not part creates from opens.
File with_mpiio(Known mode, std::optional<Span> reads, std::optional<Span> writes) {
    File made = file("/f.h5", 0, 3);
    MpiioFile layer;
    layer.create_mode = mode;
    const auto side = [](const std::optional<Span>& active) {
        MpiioTransfers one;
        one.bytes = active ? 100 : 0;
        one.active = active;
        return one;
    };
    layer.reads = side(reads);
    layer.writes = side(writes);
    made.mpiio = layer;
    return made;
}

void check(const File& file, const char* value, Confidence confidence) {
    const Statement found = created_of(file);
    CHECK(found.value == value);
    CHECK(found.confidence == confidence);
}

constexpr Span early{1, 2}, late{3, 4};

}  // namespace

TEST_CASE("created: counted, whatever the modes say") {
    File one = with_mpiio(true, {}, early);
    one.hdf5->creates = 0;
    check(one, "no", Confidence::high);
    one.hdf5->creates = 2;
    check(one, "yes", Confidence::high);
    one.hdf5.reset();
    one.pnetcdf = PnetcdfFile{};
    one.pnetcdf->creates = 0;
    check(one, "no", Confidence::high);
}

TEST_CASE("created: HDF5 gives the mode of MPI-IO for H5Fcreate alone") {
    const Statement found = created_of(with_mpiio(true, late, early));
    CHECK(found.value == "yes");
    CHECK(found.confidence == Confidence::high);
    REQUIRE(!found.evidence.empty());
    CHECK(found.evidence[0].name == "create_mode");
    CHECK(found.evidence[0].from == "mpiio");
}

TEST_CASE("created: of a file opened last for reading the times tell, since HDF5 reads its begin") {
    check(with_mpiio(false, late, early), "yes", Confidence::medium);
    check(with_mpiio({}, {}, early), "yes", Confidence::medium);
    check(with_mpiio(false, early, late), "no", Confidence::medium);
    check(with_mpiio(false, early, {}), "no", Confidence::medium);
    check(with_mpiio({}, {}, {}), "not known", Confidence::low);
}

TEST_CASE("created: others may open a file that is there in the mode for a new one") {
    const auto raw = [](Known mode, std::optional<Span> reads, std::optional<Span> writes) {
        File made = with_mpiio(mode, reads, writes);
        made.hdf5.reset();
        return made;
    };
    check(raw(true, {}, early), "yes", Confidence::medium);
    check(raw(true, late, early), "yes", Confidence::medium);
    check(raw(true, early, late), "not known", Confidence::low);
    check(raw(true, early, {}), "no", Confidence::medium);
    check(raw(false, {}, early), "no", Confidence::medium);
    check(raw({}, {}, early), "not known", Confidence::low);
}

TEST_CASE("created: a system call with O_CREAT") {
    File one = file("/f.h5", 0, 0);
    one.posix = PosixFile{};
    one.posix->create_mode = true;
    one.posix->writes = PosixTransfers{};
    one.posix->writes->bytes = 10;
    check(one, "yes", Confidence::medium);
    one.hdf5.reset();
    check(one, "yes", Confidence::low);  // it may have been there
    one.posix->create_mode = false;
    check(one, "no", Confidence::medium);
}

namespace rules {

TEST_CASE("what is for new files takes the mode of a log, and says so") {
    Profile profile = tests::plain_run();
    profile.files[0].hdf5->creates.reset();
    profile.files[0].mpiio = MpiioFile{};
    profile.files[0].mpiio->create_mode = true;
    profile.files[0].hdf5->metadata["dataset"].create = 400;
    tests::first(profile).creates.reset();
    const auto of_rule_3 = [&profile]() -> std::optional<Decision> {
        for (const Decision& one : decide(profile, Options{}))
            if (one.rule == "3") return one;
        return std::nullopt;
    };
    auto found = of_rule_3();
    REQUIRE(found);
    CHECK(!found->held);
    const auto noted = [&found](const std::string& name) {
        return std::any_of(found->reason.evidence.begin(), found->reason.evidence.end(),
                           [&](const plan::Fact& one) { return one.name == name; });
    };
    CHECK(noted("created"));
    CHECK(noted("mpiio.create_mode"));
    const Subject dataset{profile, profile.files[0], profile.files[0].datasets.data()};
    CHECK(created(dataset));  // all that is in a new file is new
    profile.files[0].mpiio->create_mode = {};
    found = of_rule_3();
    REQUIRE(found->held);
    CHECK(found->held->text ==
          "only for files that the program creates; whether it created this one is not known");
}

}  // namespace rules

}  // namespace tailrace::intent
