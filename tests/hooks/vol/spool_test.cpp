// SPDX-License-Identifier: Apache-2.0
// The spool: bounded, whole however the process ends, and never trusted.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>

#include "core/error.hpp"
#include "intent/profile/profile_json.hpp"
#include "intent/spool/merge.hpp"
#include "recorded.hpp"

using namespace recorded;
using tailrace::core::Error;

namespace {

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::byte> bytes(std::filesystem::file_size(path));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

/// A bit of everything that a spool can hold.
void do_everything() {
    vol::FileFacts facts;
    facts.created = true;
    facts.settings.count = 1;
    facts.settings.all[0] = {spool::key_alignment, 2, 0, {4096, 65536}};
    auto* file = vol::recorder::file_opened("/tmp/no such.h5", facts, now());
    const unsigned version[3] = {2, 0, 0};
    vol::recorder::library(version, true, "/lib/libhdf5.so");
    auto* dataset = create(file, "/group/d", {40, 30});
    write(dataset, {0, 0}, {10, 30});
    write(dataset, {20, 0}, {10, 30});
    write(dataset, {35, 1}, {1, 1});
    read(dataset, {5, 0}, {10, 30});
    const std::uint64_t grown[2] = {50, 30};
    vol::recorder::dataset_extended(dataset, grown, 2);
    vol::recorder::operation(file, spool::on_link, spool::op_create, "/x", true, now());
    bool known = false;
    auto* unnamed = vol::recorder::anonymous(file, nullptr, true, &known);
    vol::recorder::named(unnamed, "/named later");
    vol::recorder::dataset(file, "/group/d", nullptr, false, &known);
    vol::recorder::declared(file, spool::declared_on_list, R"({"append":"no"})", 15);
    vol::recorder::declared(dataset, spool::declared_on_list, R"({"reuse":"once"})", 16);
    vol::recorder::file_closed(file, now());
}

/// What a process notes down under a plan.
void apply_something() {
    vol::recorder::outcome({spool::became_applied, "13", "chunk", "/a.h5", "/d", "64", ""});
    vol::recorder::outcome({spool::became_held, "20", "fill_time", "/a.h5", "/d", "", "why"});
    for (std::uint64_t call = 1; call <= 3; ++call)
        vol::recorder::delivered({"/a.h5", "/d", 800, call, call != 2});
    vol::recorder::delivered({"/a.h5", "/e", 80, ~std::uint64_t{0}, true});
}

/// Decodes, and makes a profile of what could be decoded. True: it was taken for a spool.
bool taken(const std::vector<std::byte>& bytes) {
    try {
        std::vector<spool::NamedSpool> one;
        one.push_back({"x", spool::decode(bytes, "x")});
        (void)tailrace::intent::to_json(spool::merge(std::move(one), ""));
        return true;
    } catch (const Error& error) {
        CHECK(error.where() == "x");
        CHECK_FALSE(error.remedy().empty());
        return false;
    }
}

}  // namespace

TEST_CASE("what reads gave is summed by dataset, over all processes") {
    const Folder folder;
    for (int rank : {0, 1}) in_process(folder, "1", rank, apply_something, 0, "apply");
    const std::string found = spool::outcomes_of_folder(folder.path);
    const auto says = [&](const std::string& text) {
        return found.find(text) != std::string::npos;
    };
    CHECK(says(R"("file":"/a.h5","dataset":"/d","calls":6,"bytes":4800,)"
               R"("hash":"000000000000000c","not_hashed":2)"));
    CHECK(says(R"("file":"/a.h5","dataset":"/e","calls":2,"bytes":160,)"
               R"("hash":"fffffffffffffffe","not_hashed":0)"));
    CHECK(says(R"("dropped":0)"));
}

TEST_CASE("a spool that is damaged at any byte is refused or read, and nothing else") {
    const Folder folder;
    bool applying = false;
    SUBCASE("of a recording") {}
    SUBCASE("of a run with a plan") { applying = true; }
    in_process(folder, "1", 0, applying ? apply_something : do_everything, 0,
               applying ? "apply" : "record");
    std::vector<std::byte> good = bytes_of(folder.spools().at(0));
    const auto used = spool::decode(good, "x").header.used_bytes;
    good.resize(used);
    CHECK(taken(good));
    std::size_t refused = 0;
    for (std::size_t at = 0; at < used; ++at) {
        if (at >= sizeof(spool::Header) && at < spool::header_bytes) continue;  // nothing is there
        for (const auto change : {std::byte{0xff}, std::byte{0x01}, std::byte{0x80}}) {
            std::vector<std::byte> bad = good;
            bad[at] ^= change;
            if (!taken(bad)) ++refused;
        }
    }
    CHECK(refused > (applying ? 100 : 200));  // the magic, sizes, kinds and references
}

TEST_CASE("a spool that ends anywhere is refused") {
    const Folder folder;
    in_process(folder, "1", 0, do_everything);
    std::vector<std::byte> bytes = bytes_of(folder.spools().at(0));
    bytes.resize(spool::decode(bytes, "x").header.used_bytes);
    CHECK(taken(bytes));
    while (!bytes.empty()) {
        bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), 8));
        CHECK_FALSE(taken(bytes));
    }
}

TEST_CASE("a damaged spool is left out of the profile and named") {
    const Folder folder;
    in_process(folder, "1", 0, do_everything);
    in_process(folder, "1", 1, do_everything);
    std::fstream(folder.spools().at(0), std::ios::in | std::ios::out | std::ios::binary) << "what";
    const auto profile = folder.profile();
    CHECK(profile.run.processes.size() == 1);
    REQUIRE(profile.origin.notes.size() == 1);
    CHECK(profile.origin.notes[0].find("this is no spool of tailrace") != std::string::npos);
    CHECK_THROWS_AS((void)spool::merge_folder(folder.path / "nowhere", ""), Error);
}

TEST_CASE("a spool keeps to its bound and counts what it drops") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        auto* file = open_file("/tmp/no such.h5");
        for (int n = 0; n < 20000; ++n) {
            write(create(file, ("/d" + std::to_string(n)).c_str(), {10}), {0}, {10});
        }
    });
    CHECK(std::filesystem::file_size(folder.spools().at(0)) <= (1U << 20U));
    const auto profile = folder.profile();
    const std::size_t kept = profile.files.at(0).datasets.size();
    CHECK(kept > 500);
    CHECK(kept < 20000);
    CHECK(profile.origin.dropped.at("datasets") > 0);
    CHECK(profile.origin.notes.size() == 1);
    // What was kept is right to the last one.
    CHECK(profile.files[0].datasets[kept / 2].writes->bytes == 80);
}

/// Memory of this process that is no file's, in bytes.
std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all = 0, resident = 0, shared = 0;
    file >> all >> resident >> shared;
    return (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_CASE("a dataset whose name was not looked for is counted as missing") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        auto* file = open_file("/tmp/no such.h5");
        write(create(file, "/d", {10}), {0}, {10});
        vol::recorder::not_named(file, nullptr, spool::kind_unnamed);
        _exit(0);
    });
    CHECK(folder.profile().origin.dropped.at("unnamed") == 1);
}

TEST_CASE("memory keeps to the bound of the spool, whatever the program creates") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        auto* file = open_file("/tmp/no such.h5");
        const auto work = [&](int from, int to) {
            for (int n = from; n < to; ++n) {
                const std::string name = std::to_string(n);
                write(create(file, ("/d" + name).c_str(), {10}), {0}, {10});
                bool known = false;
                vol::recorder::anonymous(file, nullptr, true, &known);
                open_file(("/tmp/no such " + name).c_str());
            }
        };
        work(0, 20000);
        const std::size_t before = resident_bytes();
        work(20000, 120000);
        const std::size_t after = resident_bytes();
#ifdef __SANITIZE_ADDRESS__
        static_cast<void>(before), static_cast<void>(after);  // it keeps what was freed
        _exit(0);
#else
        _exit(after > before + (4U << 20U) ? 1 : 0);
#endif
    });
    CHECK(folder.profile().origin.dropped.at("datasets") > 100000);
}

TEST_CASE("where datasets found no room nothing is said of the order of calls") {
    const Folder folder;
    for (const int rank : {0, 1}) {
        in_process(folder, "1", rank, [] {
            auto* file = open_file("/tmp/no such.h5", 2);
            for (int n = 0; n < 20000; ++n) create(file, ("/d" + std::to_string(n)).c_str(), {10});
        });
    }
    const auto profile = folder.profile();
    CHECK(profile.files.at(0).hdf5->call_orders.size() == 1);
    CHECK_FALSE(profile.files.at(0).hdf5->same_order);
    CHECK_FALSE(profile.files.at(0).hdf5->same_transfer_order);
}

TEST_CASE("a limit on the size of files ends the spool, not the program") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        const rlimit limit{200000, 200000};
        setrlimit(RLIMIT_FSIZE, &limit);
        auto* file = open_file("/tmp/no such.h5");
        for (int n = 0; n < 2000; ++n) create(file, ("/d" + std::to_string(n)).c_str(), {10});
    });
    CHECK(std::filesystem::file_size(folder.spools().at(0)) <= 200000);
    const auto profile = folder.profile();
    CHECK(profile.files.at(0).datasets.size() > 100);
    CHECK(profile.origin.dropped.at("datasets") > 100);
}

TEST_CASE("the folder of the spools may be named from where the program begins") {
    const Folder folder;
    in_process(folder, "1", 0, [&folder] {
        setenv("TAILRACE_PROFILE_DIR", folder.path.filename().c_str(), 1);
        if (chdir(folder.path.parent_path().c_str()) != 0) _exit(1);
        auto* file = open_file("/tmp/no such.h5");
        if (chdir("/") != 0) _exit(1);
        for (int n = 0; n < 1000; ++n) create(file, ("/d" + std::to_string(n)).c_str(), {10});
    });
    const auto profile = folder.profile();
    CHECK(profile.origin.dropped.empty());
    CHECK(profile.files.at(0).datasets.size() == 1000);
}

TEST_CASE("the program finds its errno as it was") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        open_file("/tmp/no such.h5");
        errno = EDOM;
        open_file("/no such folder/x.h5");
        if (errno != EDOM) _exit(1);
    });
}

TEST_CASE("a process that is killed leaves all it had done") {
    const Folder folder;
    const auto work = [] {
        do_everything();
        raise(SIGKILL);
    };
    in_process(folder, "1", 0, work, SIGKILL);
    CHECK(folder.profile().files.at(0).datasets.at(0).writes->calls == 3);
}

TEST_CASE("a fork has a spool of its own, and its parent's stays as it was") {
    const Folder folder;
    in_process(folder, "1", 0, [] {
        auto* file = open_file("/tmp/no such.h5");
        auto* dataset = create(file, "/d", {40});
        write(dataset, {0}, {10});
        const pid_t child = fork();
        if (child == 0) {
            write(dataset, {10}, {10});
            write(dataset, {20}, {10});
            if (fork() == 0) {
                write(dataset, {30}, {10});
                _exit(0);
            }
            wait(nullptr);
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        write(dataset, {0}, {1});
    });
    REQUIRE(folder.spools().size() == 3);
    const auto profile = folder.profile();
    const auto& dataset = profile.files.at(0).datasets.at(0);
    REQUIRE(dataset.writes->by_process.size() == 3);
    CHECK(dataset.writes->by_process[0].calls == 2);
    CHECK(dataset.writes->by_process[1].calls == 2);
    CHECK(dataset.writes->by_process[2].calls == 1);
    CHECK(dataset.writes->coverage->full == true);
    CHECK(dataset.dims == Numbers{40});
    CHECK(profile.run.processes[1].parent_pid == profile.run.processes[0].pid);
}
