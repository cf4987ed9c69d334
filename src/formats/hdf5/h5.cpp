// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/h5.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tailrace::formats::hdf5::h5 {

namespace {

using core::Code;
using core::Error;

herr_t collect(unsigned /*level*/, const H5E_error2_t* entry, void* data) {
    auto& lines = *static_cast<std::vector<std::string>*>(data);
    std::string line;
    if (entry->func_name != nullptr) line = std::string(entry->func_name) + ": ";
    if (entry->desc != nullptr) line += entry->desc;
    lines.push_back(std::move(line));
    return 0;
}

std::string text_of(const std::filesystem::path& path) { return path.string(); }

}  // namespace

Quiet::Quiet() noexcept {
    H5Eget_auto2(H5E_DEFAULT, &x_function, &x_data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() { H5Eset_auto2(H5E_DEFAULT, x_function, x_data); }

std::string take_error_stack() {
    std::vector<std::string> lines;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, collect, &lines);
    H5Eclear2(H5E_DEFAULT);
    // If the system refused a call, that says it all; the way there repeats it for each chunk.
    const auto refused = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find("errno = ") != std::string::npos;
    });
    if (refused != lines.end()) lines = {lines.front(), *refused};
    std::string text;
    for (const std::string& line : lines) {
        if (!text.empty()) text += " <- ";
        text += line;
    }
    // One line: HDF5 puts the text of strerror and MPI into its descriptions as they come.
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    return text;
}

void fail(const char* call, const std::string& where, core::Code code) {
    const std::string stack = take_error_stack();
    const bool full = stack.find("No space left") != std::string::npos ||
                      stack.find("MPI_ERR_NO_SPACE") != std::string::npos ||
                      stack.find("quota exceeded") != std::string::npos;
    if (core::tells_of_no_memory(stack))
        throw core::no_memory(std::string(call) + " has no memory: " + stack, where);
    throw Error(full ? Code::no_space : code,
                std::string(call) + " failed" + (stack.empty() ? "" : ": " + stack), where,
                full ? "free space on the file system, or write elsewhere" : "");
}

std::string library_version() {
    unsigned major = 0, minor = 0, release = 0;
    check(H5get_libversion(&major, &minor, &release), "H5get_libversion", "");
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

bool filter_available(unsigned id) {
    const htri_t there = H5Zfilter_avail(static_cast<H5Z_filter_t>(id));
    if (there < 0) H5Eclear2(H5E_DEFAULT);
    return there > 0;
}

Id create_file(const std::filesystem::path& path, const Id& creation, const Id& access) {
    const std::string where = text_of(path);
    return {H5Fcreate(where.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose,
            "H5Fcreate", where};
}

Id open_file(const std::filesystem::path& path, bool writable, const Id& access) {
    const std::string where = text_of(path);
    return {H5Fopen(where.c_str(), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access.get()),
            H5Fclose, "H5Fopen", where};
}

void flush(const Id& file, const std::string& where) {
    check(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "H5Fflush", where);
}

unsigned superblock_version(const Id& file, const std::string& where) {
    H5F_info2_t info{};
    check(H5Fget_info2(file.get(), &info), "H5Fget_info2", where);
    return info.super.version;
}

Id groups_as_needed() {
    Id list = property_list(H5P_LINK_CREATE, "link creation");
    check(H5Pset_create_intermediate_group(list.get(), 1), "H5Pset_create_intermediate_group", "");
    return list;
}

bool exists(const Id& file, const std::string& path) {
    // H5Lexists wants every group on the way to be there.
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        const std::string part = path.substr(0, slash);
        if (check(H5Lexists(file.get(), part.c_str(), H5P_DEFAULT), "H5Lexists", part) == 0)
            return false;
        if (slash == std::string::npos) return true;
    }
}

std::vector<std::string> dataset_paths(const Id& file) {
    std::vector<std::string> paths;
    const auto visit = [](hid_t, const char* name, const H5O_info2_t* info, void* data) -> herr_t {
        if (info->type == H5O_TYPE_DATASET)
            static_cast<std::vector<std::string>*>(data)->push_back(std::string("/") + name);
        return 0;
    };
    check(H5Ovisit3(file.get(), H5_INDEX_NAME, H5_ITER_INC, visit, &paths, H5O_INFO_BASIC),
          "H5Ovisit3", "/");
    return paths;
}

Id scalar_space() { return {H5Screate(H5S_SCALAR), H5Sclose, "H5Screate", ""}; }

Id simple_space(std::span<const std::uint64_t> dims, std::span<const std::uint64_t> limits) {
    if (dims.empty()) return scalar_space();
    const std::vector<hsize_t> size(dims.begin(), dims.end());
    const std::vector<hsize_t> limit(limits.begin(), limits.end());
    return {H5Screate_simple(static_cast<int>(size.size()), size.data(),
                             limit.empty() ? nullptr : limit.data()),
            H5Sclose, "H5Screate_simple", ""};
}

void select_none(const Id& space) { check(H5Sselect_none(space.get()), "H5Sselect_none", ""); }

void select(const Id& space, const core::Box& box) {
    if (box.empty()) return select_none(space);
    if (box.rank() == 0) {
        check(H5Sselect_all(space.get()), "H5Sselect_all", "");
        return;
    }
    const std::vector<hsize_t> offset(box.offset.begin(), box.offset.end());
    const std::vector<hsize_t> count(box.count.begin(), box.count.end());
    const std::vector<hsize_t> ones(count.size(), 1);
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, offset.data(), nullptr, ones.data(),
                              count.data()),
          "H5Sselect_hyperslab", box.text());
}

// In halves: with one box after the other every box is compared with all that are there.
Id united(const Id& space, std::span<const core::Box> boxes) {
    if (boxes.size() == 1) {
        Id one(H5Scopy(space.get()), H5Sclose, "H5Scopy", "");
        select(one, boxes.front());
        return one;
    }
    const Id left = united(space, boxes.first(boxes.size() / 2));
    const Id right = united(space, boxes.subspan(boxes.size() / 2));
    return {H5Scombine_select(left.get(), H5S_SELECT_OR, right.get()), H5Sclose,
            "H5Scombine_select", ""};
}

std::uint64_t points_of(const Id& space) {
    return static_cast<std::uint64_t>(
        check(H5Sget_select_npoints(space.get()), "H5Sget_select_npoints", ""));
}

hid_t file_type(core::Scalar type) {
    switch (type) {
        case core::Scalar::i8:
            return H5T_STD_I8LE;
        case core::Scalar::u8:
            return H5T_STD_U8LE;
        case core::Scalar::i16:
            return H5T_STD_I16LE;
        case core::Scalar::u16:
            return H5T_STD_U16LE;
        case core::Scalar::i32:
            return H5T_STD_I32LE;
        case core::Scalar::u32:
            return H5T_STD_U32LE;
        case core::Scalar::i64:
            return H5T_STD_I64LE;
        case core::Scalar::u64:
            return H5T_STD_U64LE;
        case core::Scalar::f32:
            return H5T_IEEE_F32LE;
        case core::Scalar::f64:
            return H5T_IEEE_F64LE;
    }
    throw Error(Code::internal, "no HDF5 type for this Scalar", "", "please report it");
}

hid_t memory_type(core::Scalar type) {
    switch (type) {
        case core::Scalar::i8:
            return H5T_NATIVE_INT8;
        case core::Scalar::u8:
            return H5T_NATIVE_UINT8;
        case core::Scalar::i16:
            return H5T_NATIVE_INT16;
        case core::Scalar::u16:
            return H5T_NATIVE_UINT16;
        case core::Scalar::i32:
            return H5T_NATIVE_INT32;
        case core::Scalar::u32:
            return H5T_NATIVE_UINT32;
        case core::Scalar::i64:
            return H5T_NATIVE_INT64;
        case core::Scalar::u64:
            return H5T_NATIVE_UINT64;
        case core::Scalar::f32:
            return H5T_NATIVE_FLOAT;
        case core::Scalar::f64:
            return H5T_NATIVE_DOUBLE;
    }
    throw Error(Code::internal, "no HDF5 type for this Scalar", "", "please report it");
}

core::Scalar scalar_of(hid_t type, const std::string& where) {
    const H5T_class_t kind = H5Tget_class(type);
    const std::size_t size = H5Tget_size(type);
    if (kind == H5T_FLOAT && size == 4) return core::Scalar::f32;
    if (kind == H5T_FLOAT && size == 8) return core::Scalar::f64;
    if (kind == H5T_INTEGER) {
        const bool with_sign = H5Tget_sign(type) == H5T_SGN_2;
        switch (size) {
            case 1:
                return with_sign ? core::Scalar::i8 : core::Scalar::u8;
            case 2:
                return with_sign ? core::Scalar::i16 : core::Scalar::u16;
            case 4:
                return with_sign ? core::Scalar::i32 : core::Scalar::u32;
            case 8:
                return with_sign ? core::Scalar::i64 : core::Scalar::u64;
            default:
                break;
        }
    }
    throw Error(Code::unsupported, "its element type is no number of 1, 2, 4 or 8 bytes", where,
                "read it with h5py or h5dump");
}

Id string_type() {
    Id type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", "");
    check(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size", "");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset", "");
    return type;
}

Id character_type() {
    Id type(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy", "");
    check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "H5Tset_strpad", "");
    return type;
}

Id property_list(hid_t list_class, const char* call_class) {
    return {H5Pcreate(list_class), H5Pclose, "H5Pcreate", call_class, Code::internal};
}

Id create_dataset(const Id& file, const std::string& path, hid_t type, const Id& space,
                  const Id& creation, const Id& access) {
    const Id links = groups_as_needed();
    return {H5Dcreate2(file.get(), path.c_str(), type, space.get(), links.get(), creation.get(),
                       access.get()),
            H5Dclose, "H5Dcreate2", path};
}

Id open_dataset(const Id& file, const std::string& path, const Id& access) {
    return {H5Dopen2(file.get(), path.c_str(), access.get()), H5Dclose, "H5Dopen2", path};
}

Id space_of(const Id& dataset, const std::string& where) {
    return {H5Dget_space(dataset.get()), H5Sclose, "H5Dget_space", where};
}

Id creation_list_of(const Id& dataset, const std::string& where) {
    return {H5Dget_create_plist(dataset.get()), H5Pclose, "H5Dget_create_plist", where};
}

core::Extents chunk_of(const Id& creation, const std::string& where) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    const int rank =
        check(H5Pget_chunk(creation.get(), H5S_MAX_RANK, chunk.data()), "H5Pget_chunk", where);
    return {chunk.begin(), chunk.begin() + rank};
}

// HDF5 takes lists that it may change; ours are copies.
herr_t write_several(std::vector<hid_t> datasets, std::vector<hid_t> types,
                     std::vector<hid_t> memory, std::vector<hid_t> file, const Id& transfer,
                     std::vector<const void*> data) {
    return H5Dwrite_multi(datasets.size(), datasets.data(), types.data(), memory.data(),
                          file.data(), transfer.get(), data.data());
}

core::Extents extents_of(const Id& space, core::Extents* limits, const std::string& where) {
    const int rank =
        check(H5Sget_simple_extent_ndims(space.get()), "H5Sget_simple_extent_ndims", where);
    std::vector<hsize_t> size(static_cast<std::size_t>(rank)), most(size.size());
    check(H5Sget_simple_extent_dims(space.get(), size.data(), most.data()),
          "H5Sget_simple_extent_dims", where);
    if (limits != nullptr) limits->assign(most.begin(), most.end());
    return {size.begin(), size.end()};
}

}  // namespace tailrace::formats::hdf5::h5
