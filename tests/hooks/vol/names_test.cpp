// SPDX-License-Identifier: Apache-2.0
// How often an HDF5 is asked for the name of a dataset that was reached by a reference. It is one
// of ours, which counts.
#include <doctest/doctest.h>

#include "hooks/vol/objects/calls.hpp"
#include "hooks/vol/observe/names_of_links.hpp"
#include "recorded.hpp"

using namespace recorded;

namespace {

/// What was asked.
int names = 0;
int visits = 0;
int links = 0;  ///< that were handed over
/// The token that the next dataset has, and the links of its file.
unsigned char token = 0;
std::vector<vol::LinkInfo> in_file;
int pause_ms = 0;  ///< before each link

vol::Status get(void*, const vol::Location*, vol::Id, void* arguments, vol::Id, void**) {
    auto& name = *static_cast<vol::ObjectGetName*>(arguments);
    if (name.operation == vol::object_get_name) {
        ++names;
        *name.name_bytes = static_cast<std::size_t>(snprintf(name.buffer, 8, "/known"));
        return 0;
    }
    vol::ObjectInfo& info = *static_cast<vol::ObjectGetInfo*>(arguments)->info;
    info.file_number = 1;
    info.token[0] = token;
    return 0;
}

vol::Status visit(void*, const vol::Location*, vol::Id, vol::LinkSpecific* arguments, vol::Id,
                  void**) {
    ++visits;
    for (const vol::LinkInfo& link : in_file) {
        ++links;
        usleep(static_cast<useconds_t>(pause_ms) * 1000);
        const std::string name = "d" + std::to_string(link.token[0]);
        const vol::Status enough = arguments->iterate.visit(0, name.c_str(), &link, nullptr);
        if (enough != 0) return enough;
    }
    return 0;
}

vol::Library& counting() {
    static vol::Library made;
    made.H5VLobject_get = get;
    made.H5VLlink_specific = visit;
    made.H5VLdataset_get = [](void*, vol::Id, vol::DatasetGet*, vol::Id, void**) { return -1; };
    made.H5Eget_current_stack = [] { return vol::invalid_id; };
    made.H5Eget_auto2 = [](vol::Id, void**, void**) { return -1; };
    return made;
}

struct One {
    vol::Under under{};
    vol::Object object{};
    One(vol::FileEntry* file, unsigned char number) {
        under.library = &counting();
        under.file_number = 1;
        object.under = &under;
        object.kind = vol::kind_dataset;
        object.file = file;
        object.unnamed = true;
        token = number;
    }
    One(const One&) = delete;
    One& operator=(const One&) = delete;
    ~One() { free(object.path); }
    const char* noted() {
        vol::note_dataset(object, vol::Made::before, vol::Clock(nullptr));
        return object.path != nullptr ? object.path : "";
    }
};

vol::LinkInfo link_to(int number, int type = vol::link_hard) {
    vol::LinkInfo made{};
    made.type = type;
    made.token[0] = static_cast<unsigned char>(number);
    return made;
}

/// Runs `work` with a file of three datasets in a process of its own; it gives how many checks
/// failed.
void of_three(const std::function<int(vol::FileEntry*)>& work) {
    const Folder folder;
    in_process(folder, "1", 0, [&] {
        in_file = {link_to(1), link_to(2), link_to(3)};
        _exit(work(open_file("/tmp/no such.h5")));
    });
}

}  // namespace

TEST_CASE("names: the links of a file are visited once for all that references lead to") {
    of_three([](vol::FileEntry* file) {
        for (const unsigned char number : {1, 2, 3, 1}) {
            One one(file, number);
            if (one.noted() != "/d" + std::to_string(number)) return 1;
        }
        return names == 0 && visits == 1 ? 0 : 2;
    });
}

TEST_CASE("names: nobody looks for one that the library knows, nor if all ranks would have to") {
    of_three([](vol::FileEntry* file) {
        One named(file, 1);
        named.object.unnamed = false;
        if (named.noted() != std::string("/known") || names != 1) return 1;
        One of_ranks(file, 2);
        of_ranks.under.reads_together = true;
        if (of_ranks.noted() != std::string()) return 2;
        return names == 1 && visits == 0 ? 0 : 3;
    });
}

TEST_CASE("names: groups that references lead to cost one visit of the links under a plan too") {
    of_three([](vol::FileEntry* file) {
        const auto path_of = [file](unsigned char number, bool together = false) {
            One one(file, number);
            one.object.kind = vol::kind_group;
            one.under.reads_together = together;
            vol::find_path(one.object);
            return std::string(one.object.path != nullptr ? one.object.path : "");
        };
        for (const unsigned char number : {1, 2, 3, 1, 2, 3})
            if (path_of(number) != "/d" + std::to_string(number)) return 1;
        if (names != 0 || visits != 1) return 2;
        // What is newer than the visit the library knows, and what all ranks have to look for.
        if (path_of(7) != "/known" || path_of(1, true) != "/known") return 3;
        return names == 2 && visits == 1 ? 0 : 4;
    });
}

TEST_CASE("names: links of all kinds are visited until the time is over") {
    of_three([](vol::FileEntry* file) {
        in_file.assign(1000, link_to(9, 1));  // soft
        in_file.push_back(link_to(1));
        pause_ms = 2;
        One one(file, 1);
        const vol::Identity wanted{1, {1}};
        const auto found =
            vol::name_by_links(one.object, wanted, vol::recorder::now() + 1'000'000, false);
        if (found.path != nullptr || found.sure || links != 1) return 1;
        pause_ms = 0;  // and once more if there is far more time
        const auto later = vol::recorder::now() + 1'000'000'000'000;
        const auto again = vol::name_by_links(one.object, wanted, later, false);
        return again.path != nullptr && again.sure && visits == 2 ? 0 : 2;
    });
}

TEST_CASE("names: a link that is newer than the last look is found by another one") {
    of_three([](vol::FileEntry* file) {
        One one(file, 9);
        const vol::Identity wanted{1, {9}};
        const auto end = vol::recorder::now() + 1'000'000'000'000;
        const auto before = vol::name_by_links(one.object, wanted, end, false);
        in_file.push_back(link_to(9));
        const auto same = vol::name_by_links(one.object, wanted, end, false);
        const auto anew = vol::name_by_links(one.object, wanted, end, true);
        if (before.path != nullptr || !before.sure || same.path != nullptr) return 1;
        return anew.path != nullptr && std::string(anew.path) == "/d9" && visits == 2 ? 0 : 2;
    });
}
