// SPDX-License-Identifier: Apache-2.0
// References of both kinds, and the calls of HDF5 1.6 to 1.10, which much code still makes.
#include <cstring>

#include "api.hpp"

#ifdef H5_NO_DEPRECATED_SYMBOLS
#error "HDF5 was built without the calls of its older versions, which these tests make"
#endif
#if !H5_VERSION_GE(2, 0, 0)  // where it is the only one
#define H5Dread_chunk1 H5Dread_chunk
#endif

namespace api {
namespace {

void references_to_attributes(hid_t file) {
    H5R_ref_t one{};
    H5R_ref_t same{};
    line{"H5Rcreate_attr", H5Rcreate_attr(file, "d", "a", H5P_DEFAULT, &one)};
    line{"H5Rcopy", H5Rcopy(&one, &same), H5Requal(&one, &same), H5Rget_type(&same)};
    char name[64] = {};
    line{"H5Rget_attr_name", H5Rget_attr_name(&same, name, sizeof name)};
    text("its name", name);
    line{"H5Rget_file_name", H5Rget_file_name(&same, name, sizeof name)};
    text("its file", name);
    H5O_type_t type{};
    line{"H5Rget_obj_type", H5Rget_obj_type3(&same, H5P_DEFAULT, &type), type};
    const hid_t attribute = id("H5Ropen_attr", H5Ropen_attr(&same, H5P_DEFAULT, H5P_DEFAULT));
    int got[3] = {};
    line{"H5Aread", H5Aread(attribute, H5T_NATIVE_INT, got), hash(got, sizeof got)};
    line{"H5Aclose", H5Aclose(attribute)};
    const hid_t events = H5EScreate();
    const hid_t again =
        id("H5Ropen_attr_async", H5Ropen_attr_async(&one, H5P_DEFAULT, H5P_DEFAULT, events));
    line{"H5Aclose", H5Aclose(again)};
    H5R_ref_t object{};
    line{"H5Rcreate_object", H5Rcreate_object(file, "d", H5P_DEFAULT, &object)};
    const hid_t dataset =
        id("H5Ropen_object_async", H5Ropen_object_async(&object, H5P_DEFAULT, H5P_DEFAULT, events));
    line{"H5Dclose", H5Dclose(dataset)};
    size_t running = 1;
    hbool_t failed = true;
    line{"H5ESwait", H5ESwait(events, H5ES_WAIT_FOREVER, &running, &failed), running, failed};
    line{"H5ESclose", H5ESclose(events)};
    line{"to nothing", H5Rcreate_attr(file, "d", "b", H5P_DEFAULT, &same)};
    line{"H5Rdestroy", H5Rdestroy(&one), H5Rdestroy(&same), H5Rdestroy(&object)};
}

/// Of objects and of regions, as a dataset holds them.
void older_references(hid_t file) {
    hobj_ref_t object[2] = {};
    line{"H5Rcreate", H5Rcreate(&object[0], file, "d", H5R_OBJECT, -1),
         H5Rcreate(&object[1], file, "g", H5R_OBJECT, -1)};
    line{"to nothing", H5Rcreate(&object[0], file, "x", H5R_OBJECT, -1)};
    text("why", last_error());
    H5O_type_t type{};
    line{"H5Rget_obj_type2", H5Rget_obj_type2(file, H5R_OBJECT, &object[1], &type), type};
    line{"H5Rget_obj_type1", H5Rget_obj_type1(file, H5R_OBJECT, &object[0])};
    char name[64] = {};
    line{"H5Rget_name", H5Rget_name(file, H5R_OBJECT, &object[0], name, sizeof name)};
    text("its name", name);
    const hid_t first = id("H5Rdereference1", H5Rdereference1(file, H5R_OBJECT, &object[0]));
    const hid_t second =
        id("H5Rdereference2", H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &object[1]));
    line{"their types", H5Iget_type(first), H5Iget_type(second)};
    line{"closed", H5Dclose(first), H5Gclose(second)};
    if (context.parallel) return;  // references and regions in datasets are refused there

    const hid_t two = space({2});
    const hid_t one = space({1});
    const hid_t list = dataset_list();
    const hid_t kept = id(
        "kept", H5Dcreate2(file, "objects", H5T_STD_REF_OBJ, two, H5P_DEFAULT, list, H5P_DEFAULT));
    hobj_ref_t back[2] = {};
    line{"H5Dwrite", H5Dwrite(kept, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, object)};
    line{"H5Dread", H5Dread(kept, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, back),
         std::memcmp(back, object, sizeof back)};
    line{"H5Dclose", H5Dclose(kept)};

    const hid_t part = space({3});
    const hsize_t start = 1;
    const hsize_t count = 2;
    H5Sselect_hyperslab(part, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    hdset_reg_ref_t region{};
    line{"H5Rcreate", H5Rcreate(&region, file, "d", H5R_DATASET_REGION, part)};
    const hid_t regions = id("regions", H5Dcreate2(file, "regions", H5T_STD_REF_DSETREG, one,
                                                   H5P_DEFAULT, list, H5P_DEFAULT));
    hdset_reg_ref_t region_back{};
    line{"H5Dwrite",
         H5Dwrite(regions, H5T_STD_REF_DSETREG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &region)};
    line{"H5Dread",
         H5Dread(regions, H5T_STD_REF_DSETREG, H5S_ALL, H5S_ALL, H5P_DEFAULT, &region_back)};
    const hid_t picked = id("H5Rget_region", H5Rget_region(file, H5R_DATASET_REGION, &region_back));
    line{"points", H5Sget_select_npoints(picked)};
    const hid_t target =
        id("H5Rdereference2", H5Rdereference2(file, H5P_DEFAULT, H5R_DATASET_REGION, &region_back));
    line{"closed", H5Dclose(target), H5Dclose(regions)};
    for (const hid_t of : {two, one, part, picked}) H5Sclose(of);
    H5Pclose(list);
}

herr_t older_attribute(hid_t of, const char* name, void* to) {
    *static_cast<std::string*>(to) += std::string(name) + std::to_string(H5Iget_type(of)) + " ";
    return 0;
}

herr_t older_link(hid_t, const char* name, const H5L_info1_t* info, void* to) {
    *static_cast<std::string*>(to) += name + std::to_string(info->type) + " ";
    return 0;
}

herr_t older_object(hid_t, const char* name, const H5O_info1_t* info, void* to) {
    *static_cast<std::string*>(to) += name + std::to_string(info->type) + " ";
    return 0;
}

herr_t older_name(hid_t, const char* name, void* to) {
    *static_cast<std::string*>(to) += std::string(name) + " ";
    return 0;
}

void older_groups(hid_t file) {
    const hid_t group = id("H5Gcreate1", H5Gcreate1(file, "g", 64));
    line{"H5Gset_comment", H5Gset_comment(file, "g", "older")};
    char said[32] = {};
    line{"H5Gget_comment", H5Gget_comment(file, "g", sizeof said, said)};
    text("comment", said);
    line{"H5Glink", H5Glink(file, H5L_TYPE_SOFT, "g", "soft"),
         H5Glink2(file, "g", H5L_TYPE_HARD, group, "loop")};
    line{"H5Gget_linkval", H5Gget_linkval(file, "soft", sizeof said, said)};
    text("its value", said);
    line{"H5Gmove", H5Gmove(file, "soft", "moved"), H5Gmove2(file, "moved", group, "again")};
    line{"H5Gunlink", H5Gunlink(group, "again"), H5Gunlink(group, "again")};
    text("why", last_error());
    H5G_stat_t found{};
    line{"H5Gget_objinfo", H5Gget_objinfo(file, "g", true, &found), found.type, found.nlink};
    hsize_t number = 0;
    line{"H5Gget_num_objs", H5Gget_num_objs(file, &number), number};
    line{"H5Gget_objname_by_idx", H5Gget_objname_by_idx(file, 0, said, sizeof said),
         H5Gget_objtype_by_idx(file, 0)};
    text("its name", said);
    const hid_t same = id("H5Gopen1", H5Gopen1(file, "g/loop"));
    line{"closed", H5Gclose(same), H5Gclose(group)};
    std::string names;
    int at = 0;
    line{"H5Giterate", H5Giterate(file, "/", &at, older_name, &names), at};
    text("names", names);
}

void older_datasets(hid_t file) {
    const hid_t list = dataset_list();
    const hsize_t two[1] = {2};
    H5Pset_chunk(list, 1, two);
    const hid_t grows = space({3}, {H5S_UNLIMITED});
    const hid_t dataset = id("H5Dcreate1", H5Dcreate1(file, "d", H5T_STD_I32LE, grows, list));
    const int values[3] = {3, 1, 2};
    line{"H5Dwrite", H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, context.transfer, values)};
    const hid_t attribute =
        id("H5Acreate1", H5Acreate1(dataset, "a", H5T_STD_I32LE, grows, H5P_DEFAULT));
    line{"H5Awrite", H5Awrite(attribute, H5T_NATIVE_INT, values), H5Aclose(attribute)};
    const hid_t named = id("H5Aopen_name", H5Aopen_name(dataset, "a"));
    const hid_t first = id("H5Aopen_idx", H5Aopen_idx(dataset, 0));
    line{"H5Aclose", H5Aclose(named), H5Aclose(first), H5Aget_num_attrs(dataset)};
    std::string names;
    unsigned at = 0;
    line{"H5Aiterate1", H5Aiterate1(dataset, &at, older_attribute, &names), at};
    text("names", names);
    line{"H5Dclose", H5Dclose(dataset)};
    const hid_t again = id("H5Dopen1", H5Dopen1(file, "d"));
    const hsize_t nine[1] = {9};
    line{"H5Dextend", H5Dextend(again, nine)};
    const hid_t of = H5Dget_space(again);
    line{"points", H5Sget_simple_extent_npoints(of)};
    const hsize_t chunk[1] = {0};
    uint32_t filters = 9;
    int got[2] = {};
    if (!context.parallel)
        line{"H5Dread_chunk1", H5Dread_chunk1(again, H5P_DEFAULT, chunk, &filters, got), filters,
             hash(got, sizeof got)};
    line{"H5Dclose", H5Dclose(again)};
    for (const hid_t one : {of, grows}) H5Sclose(one);
    H5Pclose(list);
    const hid_t type = H5Tcopy(H5T_STD_I16BE);
    const hid_t other = H5Tcopy(H5T_STD_U16BE);
    line{"H5Tcommit1", H5Tcommit1(file, "t", type), H5Tclose(type)};
    const hid_t opened = id("H5Topen1", H5Topen1(file, "t"));
    line{"H5Tclose", H5Tcommitted(opened), H5Tclose(opened)};
    line{"H5Tcommit_anon", H5Tcommit_anon(file, other, H5P_DEFAULT, H5P_DEFAULT)};
    line{"H5Olink", H5Olink(other, file, "u", H5P_DEFAULT, H5P_DEFAULT), H5Tclose(other)};
}

void older_questions(hid_t file) {
    H5O_info1_t object{};
    line{"H5Oget_info1", H5Oget_info1(file, &object), object.type, object.rc};
    line{"H5Oget_info2", H5Oget_info2(file, &object, H5O_INFO_BASIC), object.type};
    line{"H5Oget_info_by_name1", H5Oget_info_by_name1(file, "d", &object, H5P_DEFAULT), object.type,
         object.num_attrs, object.hdr.version};
    line{"H5Oget_info_by_name2",
         H5Oget_info_by_name2(file, "x", &object, H5O_INFO_BASIC, H5P_DEFAULT)};
    text("why", last_error());
    line{"H5Oget_info_by_idx1",
         H5Oget_info_by_idx1(file, "/", H5_INDEX_NAME, H5_ITER_INC, 1, &object, H5P_DEFAULT),
         object.type};
    const hid_t dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    H5Oget_info1(dataset, &object);
    const hid_t there = id("H5Oopen_by_addr", H5Oopen_by_addr(file, object.addr));
    H5O_token_t token{};
    haddr_t address = 0;
    line{"H5VLnative_addr_to_token", H5VLnative_addr_to_token(file, object.addr, &token),
         H5VLnative_token_to_addr(file, token, &address), address == object.addr};
    line{"H5Oclose", H5Oclose(there), H5Dclose(dataset)};
    H5L_info1_t link{};
    line{"H5Lget_info1", H5Lget_info1(file, "d", &link, H5P_DEFAULT), link.type};
    line{"H5Lget_info_by_idx1",
         H5Lget_info_by_idx1(file, "/", H5_INDEX_NAME, H5_ITER_INC, 0, &link, H5P_DEFAULT),
         link.type};
    std::string names;
    hsize_t at = 0;
    line{"H5Literate1", H5Literate1(file, H5_INDEX_NAME, H5_ITER_INC, &at, older_link, &names), at};
    line{"H5Literate_by_name1", H5Literate_by_name1(file, "g", H5_INDEX_NAME, H5_ITER_INC, nullptr,
                                                    older_link, &names, H5P_DEFAULT)};
    line{"H5Lvisit1", H5Lvisit1(file, H5_INDEX_NAME, H5_ITER_INC, older_link, &names),
         H5Lvisit_by_name1(file, "g", H5_INDEX_NAME, H5_ITER_INC, older_link, &names, H5P_DEFAULT)};
    line{"H5Ovisit1", H5Ovisit1(file, H5_INDEX_NAME, H5_ITER_INC, older_object, &names),
         H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, older_object, &names, H5O_INFO_BASIC),
         H5Ovisit_by_name1(file, "g", H5_INDEX_NAME, H5_ITER_INC, older_object, &names,
                           H5P_DEFAULT)};
    text("names", names);
    H5F_info1_t info{};
    line{"H5Fget_info1", H5Fget_info1(file, &info), info.super_ext_size, info.sohm.hdr_size};
    line{"H5Fset_latest_format", H5Fset_latest_format(file, true),
         H5Fset_latest_format(file, false)};
}

}  // namespace

void deprecated() {
    // Groups and types of these calls have no list that would keep times out of the file; those of
    // the first format hold none.
    const hid_t access = H5Pcopy(context.access);
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate("older.h5", H5F_ACC_TRUNC, context.creation, access);
    older_groups(file);
    older_datasets(file);
    references_to_attributes(file);
    older_references(file);
    older_questions(file);
    line{"a group within itself is gone", H5Ldelete(file, "g/loop", H5P_DEFAULT)};
    line{"H5Fclose", H5Fclose(file)};
    line{"H5Fis_hdf5", H5Fis_hdf5("older.h5") > 0};
    H5Pclose(access);
}

}  // namespace api
