// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "api.hpp"

namespace api {
namespace {

herr_t collect(hid_t, const char* name, const H5A_info_t* info, void* to) {
    *static_cast<std::string*>(to) +=
        std::string(name) + "=" + std::to_string(info->data_size) + " ";
    return 0;
}

}  // namespace

void attributes() {
    const hid_t file = H5Fcreate("attributes.h5", H5F_ACC_TRUNC, context.creation, context.access);
    const hid_t list = group_list();
    const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, list, H5P_DEFAULT);
    const hid_t three = space({3});
    const int values[3] = {1, 2, 3};
    for (const char* name : {"one", "two", "three"}) {
        const hid_t made = id(
            "H5Acreate", H5Acreate2(group, name, H5T_STD_I32LE, three, H5P_DEFAULT, H5P_DEFAULT));
        line{"H5Awrite", H5Awrite(made, H5T_NATIVE_INT, values)};
        int got[3] = {};
        line{"H5Aread", H5Aread(made, H5T_NATIVE_INT, got), hash(got, sizeof got)};
        line{"H5Aget_storage_size", H5Aget_storage_size(made)};
        const hid_t of = H5Aget_space(made);
        const hid_t type = H5Aget_type(made);
        const hid_t creation = H5Aget_create_plist(made);
        line{"parts", H5Sget_simple_extent_npoints(of), H5Tget_size(type), creation >= 0};
        H5Sclose(of);
        H5Tclose(type);
        H5Pclose(creation);
        line{"H5Aclose", H5Aclose(made)};
    }
    const hid_t by_name =
        id("H5Acreate_by_name", H5Acreate_by_name(file, "g", "four", H5T_STD_I32LE, three,
                                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    char name[32] = {};
    line{"H5Aget_name", H5Aget_name(by_name, sizeof name, name)};
    text("its name", name);
    line{"H5Aclose", H5Aclose(by_name)};
    line{"H5Aexists", H5Aexists(group, "one"), H5Aexists(group, "nine"),
         H5Aexists_by_name(file, "g", "two", H5P_DEFAULT)};
    line{"H5Arename", H5Arename(group, "one", "uno")};
    H5A_info_t info{};
    line{"H5Aget_info", H5Aget_info_by_name(file, "g", "uno", &info, H5P_DEFAULT), info.data_size};
    const hid_t by_index =
        id("H5Aopen_by_idx",
           H5Aopen_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT, H5P_DEFAULT));
    line{"H5Aclose", H5Aclose(by_index)};
    std::string names;
    hsize_t at = 0;
    line{"H5Aiterate", H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &at, collect, &names), at};
    text("names", names);
    line{"H5Adelete", H5Adelete(group, "two")};
    line{"H5Adelete_by_idx",
         H5Adelete_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT)};
    line{"H5Adelete of nothing", H5Adelete(group, "nine")};

    // Text of variable length, which goes through blobs of the connector.
    const hid_t words = H5Tcopy(H5T_C_S1);
    H5Tset_size(words, H5T_VARIABLE);
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const hid_t text_of = H5Acreate2(group, "text", words, scalar, H5P_DEFAULT, H5P_DEFAULT);
    const char* said = "some words of variable length";
    line{"H5Awrite", H5Awrite(text_of, words, &said)};
    char* heard = nullptr;
    line{"H5Aread", H5Aread(text_of, words, &heard)};
    text("heard", heard != nullptr ? heard : "nothing");
    H5Treclaim(words, scalar, H5P_DEFAULT, &heard);
    line{"H5Aclose", H5Aclose(text_of)};
    H5Tclose(words);
    H5Sclose(scalar);
    H5Sclose(three);
    H5Pclose(list);
    line{"H5Gclose", H5Gclose(group)};
    line{"H5Fclose", H5Fclose(file)};
}

void types_and_references() {
    const hid_t file = H5Fcreate("types.h5", H5F_ACC_TRUNC, context.creation, context.access);
    struct Pair {  // without bytes between that nobody sets
        long long a;
        double b;
    };
    const hid_t pair = H5Tcreate(H5T_COMPOUND, sizeof(Pair));
    H5Tinsert(pair, "a", offsetof(Pair, a), H5T_NATIVE_LLONG);
    H5Tinsert(pair, "b", offsetof(Pair, b), H5T_NATIVE_DOUBLE);
    const hid_t creation = H5Pcreate(H5P_DATATYPE_CREATE);
    H5Pset_obj_track_times(creation, false);
    line{"H5Tcommit", H5Tcommit2(file, "pair", pair, H5P_DEFAULT, creation, H5P_DEFAULT)};
    line{"H5Tcommitted", H5Tcommitted(pair)};
    const hid_t again = id("H5Topen", H5Topen2(file, "pair", H5P_DEFAULT));
    line{"H5Tequal", H5Tequal(pair, again)};
    const hid_t list = H5Tget_create_plist(again);
    line{"H5Tget_create_plist", list >= 0};
    H5Pclose(list);
    line{"H5Tflush", H5Tflush(again)};
    const hid_t two = space({2});
    const hid_t plain = dataset_list();
    const hid_t dataset =
        id("of it", H5Dcreate2(file, "pairs", again, two, H5P_DEFAULT, plain, H5P_DEFAULT));
    const Pair pairs[2] = {{1, 0.5}, {2, 0.25}};
    line{"H5Dwrite", H5Dwrite(dataset, again, H5S_ALL, H5S_ALL, context.transfer, pairs)};
    const hid_t type = id("H5Dget_type", H5Dget_type(dataset));
    char name[32] = {};
    line{"its name", H5Tcommitted(type), H5Iget_name(type, name, sizeof name)};
    text("it is", name);
    line{"H5Tclose", H5Tclose(type)};

    H5R_ref_t reference{};
    line{"H5Rcreate_object", H5Rcreate_object(file, "pairs", H5P_DEFAULT, &reference)};
    const hid_t through =
        id("H5Ropen_object", H5Ropen_object(&reference, H5P_DEFAULT, H5P_DEFAULT));
    line{"H5Dclose", H5Dclose(through)};
    line{"H5Rget_obj_name", H5Rget_obj_name(&reference, H5P_DEFAULT, name, sizeof name)};
    text("its name", name);
    const hid_t one = space({1});
    const hid_t kept = id("references", H5Dcreate2(file, "references", H5T_STD_REF, one,
                                                   H5P_DEFAULT, plain, H5P_DEFAULT));
    if (!context.parallel) {
        line{"H5Dwrite", H5Dwrite(kept, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, &reference)};
        H5R_ref_t back{};
        line{"H5Dread", H5Dread(kept, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, &back)};
        const hid_t target = id("H5Ropen_object", H5Ropen_object(&back, H5P_DEFAULT, H5P_DEFAULT));
        line{"H5Dclose", H5Dclose(target)};
        line{"H5Rdestroy", H5Rdestroy(&back)};
        const hid_t part = H5Dget_space(dataset);
        const hsize_t first = 0;
        H5Sselect_elements(part, H5S_SELECT_SET, 1, &first);
        H5R_ref_t region{};
        line{"H5Rcreate_region", H5Rcreate_region(file, "pairs", part, H5P_DEFAULT, &region)};
        const hid_t picked =
            id("H5Ropen_region", H5Ropen_region(&region, H5P_DEFAULT, H5P_DEFAULT));
        line{"points", H5Sget_select_npoints(picked)};
        H5Sclose(picked);
        H5Sclose(part);
        line{"H5Rdestroy", H5Rdestroy(&region)};
        const hid_t list_of = H5Tvlen_create(H5T_NATIVE_INT);
        const hid_t lists =
            id("lists", H5Dcreate2(file, "lists", list_of, two, H5P_DEFAULT, plain, H5P_DEFAULT));
        int numbers[3] = {4, 5, 6};
        hvl_t out[2] = {{3, numbers}, {1, numbers}};
        hvl_t in[2] = {};
        line{"H5Dwrite", H5Dwrite(lists, list_of, H5S_ALL, H5S_ALL, H5P_DEFAULT, out)};
        line{"H5Dread", H5Dread(lists, list_of, H5S_ALL, H5S_ALL, H5P_DEFAULT, in), in[0].len,
             in[1].len, hash(in[0].p, 12)};
        hsize_t bytes = 0;
        line{"H5Dvlen_get_buf_size", H5Dvlen_get_buf_size(lists, list_of, two, &bytes), bytes};
        H5Treclaim(list_of, two, H5P_DEFAULT, in);
        line{"H5Dclose", H5Dclose(lists)};
        H5Tclose(list_of);
    }
    line{"H5Rdestroy", H5Rdestroy(&reference)};
    line{"H5Dclose", H5Dclose(kept), H5Dclose(dataset)};
    line{"H5Tclose", H5Tclose(again), H5Tclose(pair)};
    for (const hid_t of : {two, one}) H5Sclose(of);
    H5Pclose(plain);
    H5Pclose(creation);
    line{"H5Fclose", H5Fclose(file)};
}

}  // namespace api
