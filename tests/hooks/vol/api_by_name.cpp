// SPDX-License-Identifier: Apache-2.0
// What is asked for by the name of an object, or by its place in an index, at once and through an
// event set; and what is asked of a file by calls that others do not make.
#include <vector>

#include "api.hpp"

namespace api {
namespace {

constexpr auto by_name = H5_INDEX_NAME;
constexpr auto up = H5_ITER_INC;

herr_t collect_attribute(hid_t, const char* name, const H5A_info_t* info, void* to) {
    *static_cast<std::string*>(to) += name + std::to_string(info->data_size) + " ";
    return 0;
}

herr_t collect_link(hid_t, const char* name, const H5L_info2_t* info, void* to) {
    *static_cast<std::string*>(to) += name + std::to_string(info->type) + " ";
    return 0;
}

/// Ends early, with a word of its own.
herr_t first_link(hid_t, const char* name, const H5L_info2_t*, void* to) {
    *static_cast<std::string*>(to) += name;
    return 7;
}

herr_t collect_object(hid_t, const char* name, const H5O_info2_t* info, void* to) {
    *static_cast<std::string*>(to) += name + std::to_string(info->type) + " ";
    return 0;
}

/// A group "g" with two attributes, a dataset "g/d" with one, and links beside it.
void fill(hid_t file) {
    const hid_t list = group_list();
    const hid_t plain = dataset_list();
    const hid_t grows = dataset_list();
    const hsize_t two[1] = {2};
    H5Pset_chunk(grows, 1, two);
    H5Pset_fill_time(grows, H5D_FILL_TIME_ALLOC);
    const hid_t three = space({3});
    const hid_t unlimited = space({3}, {H5S_UNLIMITED});
    const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, list, H5P_DEFAULT);
    const hid_t dataset =
        H5Dcreate2(group, "d", H5T_STD_I32LE, three, H5P_DEFAULT, plain, H5P_DEFAULT);
    const hid_t more =
        H5Dcreate2(group, "grows", H5T_STD_I32LE, unlimited, H5P_DEFAULT, grows, H5P_DEFAULT);
    for (const char* name : {"first", "second"})
        H5Aclose(H5Acreate2(group, name, H5T_STD_I64LE, three, H5P_DEFAULT, H5P_DEFAULT));
    H5Aclose(H5Acreate2(dataset, "of d", H5T_STD_I32LE, three, H5P_DEFAULT, H5P_DEFAULT));
    line{"soft", H5Lcreate_soft("d", group, "soft", H5P_DEFAULT, H5P_DEFAULT)};
    line{"user-defined", H5Lcreate_ud(group, "own", H5L_TYPE_EXTERNAL, "\0other.h5\0/x", 13,
                                      H5P_DEFAULT, H5P_DEFAULT)};
    line{"closed", H5Dclose(dataset), H5Dclose(more), H5Gclose(group)};
    for (const hid_t of : {three, unlimited}) H5Sclose(of);
    for (const hid_t of : {list, plain, grows}) H5Pclose(of);
}

void attributes_of(hid_t file) {
    const hid_t one =
        id("H5Aopen_by_name", H5Aopen_by_name(file, "g", "first", H5P_DEFAULT, H5P_DEFAULT));
    const int values[3] = {5, 6, 7};
    line{"H5Awrite", H5Awrite(one, H5T_NATIVE_INT, values)};
    text("why", last_error());
    H5A_info_t info{};
    line{"H5Aget_info", H5Aget_info(one, &info), info.data_size};
    line{"H5Aclose", H5Aclose(one)};
    id("of nothing", H5Aopen_by_name(file, "g", "third", H5P_DEFAULT, H5P_DEFAULT));
    id("of no object", H5Aopen_by_name(file, "x", "first", H5P_DEFAULT, H5P_DEFAULT));
    line{"H5Aget_info_by_idx", H5Aget_info_by_idx(file, "g", by_name, up, 1, &info, H5P_DEFAULT),
         info.data_size};
    line{"beyond", H5Aget_info_by_idx(file, "g", by_name, up, 9, &info, H5P_DEFAULT)};
    text("why", last_error());
    char name[32] = {};
    line{"H5Aget_name_by_idx",
         H5Aget_name_by_idx(file, "g", by_name, up, 1, name, sizeof name, H5P_DEFAULT)};
    text("its name", name);
    line{"H5Arename_by_name", H5Arename_by_name(file, "g", "second", "zwei", H5P_DEFAULT)};
    std::string names;
    hsize_t at = 0;
    line{"H5Aiterate_by_name",
         H5Aiterate_by_name(file, "g", by_name, up, &at, collect_attribute, &names, H5P_DEFAULT),
         at};
    text("names", names);
    line{"H5Adelete_by_name", H5Adelete_by_name(file, "g", "zwei", H5P_DEFAULT),
         H5Adelete_by_name(file, "g", "zwei", H5P_DEFAULT)};
    text("why", last_error());
}

void links_of(hid_t file) {
    H5L_info2_t info{};
    line{"H5Lget_info_by_idx", H5Lget_info_by_idx2(file, "g", by_name, up, 3, &info, H5P_DEFAULT),
         info.type, info.u.val_size};
    char value[64] = {};
    line{"H5Lget_val_by_idx",
         H5Lget_val_by_idx(file, "g", by_name, up, 3, value, sizeof value, H5P_DEFAULT)};
    text("its value", value);
    const char* far = nullptr;
    const char* path = nullptr;
    unsigned flags = 0;
    line{"H5Lget_val", H5Lget_val(file, "g/own", value, sizeof value, H5P_DEFAULT)};
    line{"H5Lunpack_elink_val", H5Lunpack_elink_val(value, 13, &flags, &far, &path), flags};
    text("leads to", std::string(far != nullptr ? far : "") + (path != nullptr ? path : ""));
    std::string names;
    hsize_t at = 1;
    line{"H5Literate_by_name",
         H5Literate_by_name2(file, "g", by_name, up, &at, collect_link, &names, H5P_DEFAULT), at};
    text("names", names);
    names.clear();
    at = 0;
    line{"it ends early",
         H5Literate_by_name2(file, "g", by_name, up, &at, first_link, &names, H5P_DEFAULT), at};
    text("names", names);
    names.clear();
    line{"H5Lvisit_by_name",
         H5Lvisit_by_name2(file, "/", by_name, up, collect_link, &names, H5P_DEFAULT)};
    text("names", names);
    line{"H5Lis_registered", H5Lis_registered(H5L_TYPE_EXTERNAL), H5Lis_registered(H5L_TYPE_MAX)};
}

void objects_of(hid_t file) {
    H5O_info2_t info{};
    line{"H5Oget_info_by_name",
         H5Oget_info_by_name3(file, "g/soft", &info, H5O_INFO_ALL, H5P_DEFAULT), info.type, info.rc,
         info.num_attrs};
    line{"H5Oget_info_by_idx",
         H5Oget_info_by_idx3(file, "g", by_name, up, 1, &info, H5O_INFO_ALL, H5P_DEFAULT),
         info.type, info.num_attrs};
    line{"of nothing", H5Oget_info_by_name3(file, "x", &info, H5O_INFO_ALL, H5P_DEFAULT)};
    text("why", last_error());
    H5O_native_info_t native{};
    line{"H5Oget_native_info_by_name",
         H5Oget_native_info_by_name(file, "g/d", &native, H5O_NATIVE_INFO_HDR, H5P_DEFAULT),
         native.hdr.version, native.hdr.nmesgs};
    line{"H5Oget_native_info_by_idx",
         H5Oget_native_info_by_idx(file, "g", by_name, up, 0, &native, H5O_NATIVE_INFO_HDR,
                                   H5P_DEFAULT),
         native.hdr.nmesgs};
    line{"H5Oset_comment_by_name",
         H5Oset_comment_by_name(file, "g/d", "said by name", H5P_DEFAULT)};
    const hid_t dataset = H5Oopen(file, "g/d", H5P_DEFAULT);
    char said[32] = {};
    line{"H5Oget_comment", H5Oget_comment(dataset, said, sizeof said)};
    text("comment", said);
    line{"H5Oclose", H5Oclose(dataset)};
    std::string names;
    line{"H5Ovisit_by_name", H5Ovisit_by_name3(file, "g", by_name, up, collect_object, &names,
                                               H5O_INFO_BASIC, H5P_DEFAULT)};
    text("names", names);
}

void by_events(hid_t file) {
    const hid_t events = H5EScreate();
    const hid_t again = id("H5Freopen_async", H5Freopen_async(file, events));
    const hid_t group = id("H5Gopen_async", H5Gopen_async(again, "g", H5P_DEFAULT, events));
    H5G_info_t info{};
    line{"H5Gget_info_by_name_async",
         H5Gget_info_by_name_async(again, "g", &info, H5P_DEFAULT, events), info.nlinks};
    line{"H5Gget_info_by_idx_async",
         H5Gget_info_by_idx_async(again, "/", by_name, up, 0, &info, H5P_DEFAULT, events),
         info.nlinks};
    const hid_t one =
        id("H5Aopen_by_name_async",
           H5Aopen_by_name_async(again, "g", "first", H5P_DEFAULT, H5P_DEFAULT, events));
    line{"H5Aclose_async", H5Aclose_async(one, events)};
    const hid_t same = id("H5Aopen_async", H5Aopen_async(group, "first", H5P_DEFAULT, events));
    line{"H5Aclose", H5Aclose(same)};
    const hid_t first =
        id("H5Aopen_by_idx_async",
           H5Aopen_by_idx_async(again, "g", by_name, up, 0, H5P_DEFAULT, H5P_DEFAULT, events));
    line{"H5Aclose", H5Aclose(first)};
    hbool_t there = false;
    line{"H5Aexists_by_name_async",
         H5Aexists_by_name_async(again, "g", "first", &there, H5P_DEFAULT, events), there};
    line{"H5Arename_by_name_async",
         H5Arename_by_name_async(again, "g", "first", "eins", H5P_DEFAULT, events)};
    H5O_info2_t object{};
    line{"H5Oget_info_by_name_async",
         H5Oget_info_by_name_async(again, "g/d", &object, H5O_INFO_BASIC, H5P_DEFAULT, events),
         object.type};
    const hid_t found = id("H5Oopen_by_idx_async",
                           H5Oopen_by_idx_async(again, "g", by_name, up, 0, H5P_DEFAULT, events));
    line{"H5Oclose", H5Oclose(found)};
    std::string names;
    hsize_t at = 0;
    line{"H5Literate_async",
         H5Literate_async(group, by_name, up, &at, collect_link, &names, events), at};
    text("names", names);
    line{"H5Ldelete_by_idx_async",
         H5Ldelete_by_idx_async(again, "g", by_name, up, 3, H5P_DEFAULT, events)};
    const hid_t grows = id("H5Dopen_async", H5Dopen_async(group, "grows", H5P_DEFAULT, events));
    const hsize_t nine[1] = {9};
    line{"H5Dset_extent_async", H5Dset_extent_async(grows, nine, events)};
    const hid_t of = id("H5Dget_space_async", H5Dget_space_async(grows, events));
    line{"points", H5Sget_simple_extent_npoints(of)};
    H5Sclose(of);
    if (!context.parallel) line{"H5Drefresh", H5Drefresh(grows)};
    line{"H5Dclose_async", H5Dclose_async(grows, events)};
    size_t running = 1;
    hbool_t failed = true;
    line{"H5ESwait", H5ESwait(events, H5ES_WAIT_FOREVER, &running, &failed), running, failed};
    size_t held = 9;
    uint64_t calls = 0;
    line{"H5ESget_count", H5ESget_count(events, &held), held, H5ESget_op_counter(events, &calls)};
    line{"H5EScancel", H5EScancel(events, &held, &failed), held, failed};
    line{"H5ESclose", H5ESclose(events)};
    line{"closed", H5Gclose(group), H5Fclose(again)};
}

void of_file(hid_t file) {
    line{"H5Fincrement_filesize", H5Fincrement_filesize(file, 0)};
    line{"H5Fclear_elink_file_cache", H5Fclear_elink_file_cache(file)};
    bool on = true;
    bool writes = true;
    line{"H5Fget_mdc_logging_status", H5Fget_mdc_logging_status(file, &on, &writes), on, writes};
    line{"H5Fstart_mdc_logging", H5Fstart_mdc_logging(file)};
    text("why", last_error());
    line{"H5Fset_dset_no_attrs_hint", H5Fset_dset_no_attrs_hint(file, true)};
    hbool_t hint = false;
    line{"H5Fget_dset_no_attrs_hint", H5Fget_dset_no_attrs_hint(file, &hint), hint};
    line{"H5Fset_dset_no_attrs_hint", H5Fset_dset_no_attrs_hint(file, false)};
}

}  // namespace

void names_and_indexes() {
    const hid_t file = H5Fcreate("by_name.h5", H5F_ACC_TRUNC, context.creation, context.access);
    fill(file);
    attributes_of(file);
    links_of(file);
    objects_of(file);
    by_events(file);
    of_file(file);
    line{"H5Fclose", H5Fclose(file)};
}

}  // namespace api
