// SPDX-License-Identifier: Apache-2.0
#include "api.hpp"

namespace api {
namespace {

herr_t collect(hid_t, const char* name, const H5L_info2_t* info, void* to) {
    *static_cast<std::string*>(to) +=
        std::string(name) + (info->type == H5L_TYPE_SOFT ? "~ " : " ");
    return 0;
}

herr_t collect_objects(hid_t in, const char* name, const H5O_info2_t* info, void* to) {
    *static_cast<std::string*>(to) +=
        std::string(name) + "=" + std::to_string(info->type) + std::to_string(info->rc) + " ";
    // A call from within the visit goes through the connector too.
    return H5Oexists_by_name(in, ".", H5P_DEFAULT) > 0 ? 0 : -1;
}

}  // namespace

void groups_and_links() {
    const hid_t file = H5Fcreate("links.h5", H5F_ACC_TRUNC, context.creation, context.access);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t list = group_list();
    H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const hid_t a = id("intermediate", H5Gcreate2(file, "a", H5P_DEFAULT, list, H5P_DEFAULT));
    const hid_t deep = id("deep", H5Gcreate2(a, "x/y/z", links, list, H5P_DEFAULT));
    const hid_t none = id("anonymous", H5Gcreate_anon(file, list, H5P_DEFAULT));
    line{"H5Olink", H5Olink(none, a, "named", H5P_DEFAULT, H5P_DEFAULT)};
    H5G_info_t info{};
    line{"H5Gget_info", H5Gget_info(a, &info), info.nlinks};
    line{"H5Gget_info_by_name", H5Gget_info_by_name(file, "a/x", &info, H5P_DEFAULT), info.nlinks};
    line{"by index",
         H5Gget_info_by_idx(file, "a", H5_INDEX_NAME, H5_ITER_INC, 0, &info, H5P_DEFAULT),
         info.nlinks};
    const hid_t creation = id("H5Gget_create_plist", H5Gget_create_plist(a));
    H5Pclose(creation);
    line{"H5Gflush", H5Gflush(a)};

    line{"hard", H5Lcreate_hard(a, "x", file, "hard", H5P_DEFAULT, H5P_DEFAULT)};
    line{"hard, same place",
         H5Lcreate_hard(a, "x", H5L_SAME_LOC, "hard2", H5P_DEFAULT, H5P_DEFAULT)};
    line{"hard, same place",
         H5Lcreate_hard(H5L_SAME_LOC, "x", a, "hard3", H5P_DEFAULT, H5P_DEFAULT)};
    line{"soft", H5Lcreate_soft("/a/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT)};
    line{"dangling", H5Lcreate_soft("/not/there", file, "dangling", H5P_DEFAULT, H5P_DEFAULT)};
    line{"external", H5Lcreate_external("files.h5", "/seen by both", file, "external", H5P_DEFAULT,
                                        H5P_DEFAULT)};
    for (const char* name : {"hard", "a/hard2", "soft", "dangling", "external", "not there"}) {
        H5L_info2_t link{};
        line{name, H5Lexists(file, name, H5P_DEFAULT), H5Lget_info2(file, name, &link, H5P_DEFAULT),
             link.type, link.type == H5L_TYPE_SOFT ? link.u.val_size : 0};
        const hid_t group = id("open it", H5Gopen2(file, name, H5P_DEFAULT));
        if (group >= 0) line{"H5Gclose", H5Gclose(group)};
    }
    char value[256] = {};
    line{"H5Lget_val", H5Lget_val(file, "soft", value, sizeof value, H5P_DEFAULT)};
    text("its value", value);
    line{"H5Lget_name_by_idx", H5Lget_name_by_idx(file, "/", H5_INDEX_NAME, H5_ITER_DEC, 0, value,
                                                  sizeof value, H5P_DEFAULT)};
    text("its name", value);
    line{"copy", H5Lcopy(file, "soft", a, "soft copy", H5P_DEFAULT, H5P_DEFAULT)};
    line{"copy, same place",
         H5Lcopy(file, "soft", H5L_SAME_LOC, "soft 2", H5P_DEFAULT, H5P_DEFAULT)};
    line{"move", H5Lmove(file, "soft 2", a, "moved", H5P_DEFAULT, H5P_DEFAULT)};
    line{"delete", H5Ldelete(file, "hard", H5P_DEFAULT)};
    line{"delete by index", H5Ldelete_by_idx(a, ".", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT)};
    std::string names;
    hsize_t at = 0;
    line{"H5Literate", H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, &at, collect, &names), at};
    text("names", names);
    names.clear();
    line{"H5Lvisit", H5Lvisit2(a, H5_INDEX_NAME, H5_ITER_INC, collect, &names)};
    text("names", names);
    names.clear();
    line{"H5Ovisit",
         H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, collect_objects, &names, H5O_INFO_BASIC)};
    text("names", names);
    for (const hid_t group : {a, deep, none}) H5Gclose(group);
    H5Pclose(list);
    H5Pclose(links);
    line{"H5Fclose", H5Fclose(file)};
}

void objects() {
    const hid_t file = H5Fopen("links.h5", H5F_ACC_RDWR, context.access);
    const hid_t by_name = id("H5Oopen", H5Oopen(file, "a", H5P_DEFAULT));
    H5O_info2_t info{};
    line{"H5Oget_info", H5Oget_info3(by_name, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS),
         info.type, info.rc, info.num_attrs};
    const hid_t by_token = id("H5Oopen_by_token", H5Oopen_by_token(file, info.token));
    const hid_t by_index =
        id("H5Oopen_by_idx", H5Oopen_by_idx(file, "/", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT));
    char* token = nullptr;
    line{"H5Otoken_to_str", H5Otoken_to_str(by_name, &info.token, &token), token != nullptr};
    H5O_token_t back{};
    line{"H5Otoken_from_str", H5Otoken_from_str(by_name, token, &back)};
    int order = 1;
    line{"H5Otoken_cmp", H5Otoken_cmp(by_name, &info.token, &back, &order), order};
    H5free_memory(token);
    char name[64] = {};
    line{"H5Iget_name", H5Iget_name(by_token, name, sizeof name)};
    text("its name", name);
    line{"H5Iget_type", H5Iget_type(by_token)};
    line{"H5Oincr_refcount", H5Oincr_refcount(by_name), H5Odecr_refcount(by_name)};
    line{"H5Oexists_by_name", H5Oexists_by_name(file, "soft", H5P_DEFAULT),
         H5Oexists_by_name(file, "dangling", H5P_DEFAULT)};
    line{"H5Oset_comment", H5Oset_comment(by_name, "a comment")};
    line{"H5Oget_comment", H5Oget_comment_by_name(file, "a", name, sizeof name, H5P_DEFAULT)};
    text("comment", name);
    line{"H5Ocopy", H5Ocopy(file, "a", file, "a copy", H5P_DEFAULT, H5P_DEFAULT)};
    line{"H5Oflush", H5Oflush(by_name)};
    if (!context.parallel) line{"H5Orefresh", H5Orefresh(by_name)};
    hbool_t off = true;
    line{"H5Oare_mdc_flushes_disabled", H5Oare_mdc_flushes_disabled(by_name, &off), off};
    line{"H5Oclose", H5Oclose(by_name), H5Oclose(by_token), H5Oclose(by_index)};
    line{"H5Fclose", H5Fclose(file)};
}

}  // namespace api
