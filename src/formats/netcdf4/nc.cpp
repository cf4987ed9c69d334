// SPDX-License-Identifier: Apache-2.0
#include "formats/netcdf4/nc.hpp"

#include <netcdf_meta.h>
#include <netcdf_par.h>

#include <algorithm>
#include <climits>
#include <string_view>
#include <vector>

#include "formats/hdf5/beneath.hpp"

namespace tailrace::formats::netcdf4::nc {

using core::Box;
using core::Code;
using core::Error;
using core::Scalar;

namespace {

/// netCDF keeps what the next create is to use for the whole process: set here, and put back.
class ForTheNextCreate {
public:
    explicit ForTheNextCreate(const Creation& creation) {
        check(nc_get_alignment(&x_threshold, &x_alignment), "nc_get_alignment", "");
        if (creation.alignment_bytes != 0) {
            check(nc_set_alignment(narrow(creation.alignment_threshold_bytes),
                                   narrow(creation.alignment_bytes)),
                  "nc_set_alignment", "alignment");
            x_alignment_set = true;
        }
#if NC_VERSION_MAJOR * 100 + NC_VERSION_MINOR >= 410
        check(nc_get_meta_block_size(&x_block), "nc_get_meta_block_size", "");
        if (creation.metadata_block_bytes != 0) {
            check(nc_set_meta_block_size(creation.metadata_block_bytes), "nc_set_meta_block_size",
                  "metadata_block_size");
            x_block_set = true;
        }
#endif
    }
    ~ForTheNextCreate() {
        // Where nothing was set before: what HDF5 does by itself.
        if (x_alignment_set) nc_set_alignment(std::max(x_threshold, 1), std::max(x_alignment, 1));
#if NC_VERSION_MAJOR * 100 + NC_VERSION_MINOR >= 410
        if (x_block_set) nc_set_meta_block_size(x_block != 0 ? x_block : 2048);
#endif
    }
    ForTheNextCreate(const ForTheNextCreate&) = delete;
    ForTheNextCreate& operator=(const ForTheNextCreate&) = delete;

private:
    /// check_options() has refused what does not fit.
    static int narrow(std::uint64_t bytes) { return static_cast<int>(bytes); }
    int x_threshold = 0, x_alignment = 0;
    [[maybe_unused]] std::size_t x_block = 0;
    bool x_alignment_set = false;
    [[maybe_unused]] bool x_block_set = false;
};

int put_box(int group, int id, const std::size_t* start, const std::size_t* count, Scalar type,
            const void* data) {
    switch (type) {
        case Scalar::i8:
            return nc_put_vara_schar(group, id, start, count,
                                     static_cast<const signed char*>(data));
        case Scalar::u8:
            return nc_put_vara_uchar(group, id, start, count,
                                     static_cast<const unsigned char*>(data));
        case Scalar::i16:
            return nc_put_vara_short(group, id, start, count, static_cast<const short*>(data));
        case Scalar::u16:
            return nc_put_vara_ushort(group, id, start, count,
                                      static_cast<const unsigned short*>(data));
        case Scalar::i32:
            return nc_put_vara_int(group, id, start, count, static_cast<const int*>(data));
        case Scalar::u32:
            return nc_put_vara_uint(group, id, start, count, static_cast<const unsigned*>(data));
        case Scalar::i64:
            return nc_put_vara_longlong(group, id, start, count,
                                        static_cast<const long long*>(data));
        case Scalar::u64:
            return nc_put_vara_ulonglong(group, id, start, count,
                                         static_cast<const unsigned long long*>(data));
        case Scalar::f32:
            return nc_put_vara_float(group, id, start, count, static_cast<const float*>(data));
        case Scalar::f64:
            return nc_put_vara_double(group, id, start, count, static_cast<const double*>(data));
    }
    return NC_EBADTYPE;
}

int get_box(int group, int id, const std::size_t* start, const std::size_t* count, Scalar type,
            void* data) {
    switch (type) {
        case Scalar::i8:
            return nc_get_vara_schar(group, id, start, count, static_cast<signed char*>(data));
        case Scalar::u8:
            return nc_get_vara_uchar(group, id, start, count, static_cast<unsigned char*>(data));
        case Scalar::i16:
            return nc_get_vara_short(group, id, start, count, static_cast<short*>(data));
        case Scalar::u16:
            return nc_get_vara_ushort(group, id, start, count, static_cast<unsigned short*>(data));
        case Scalar::i32:
            return nc_get_vara_int(group, id, start, count, static_cast<int*>(data));
        case Scalar::u32:
            return nc_get_vara_uint(group, id, start, count, static_cast<unsigned*>(data));
        case Scalar::i64:
            return nc_get_vara_longlong(group, id, start, count, static_cast<long long*>(data));
        case Scalar::u64:
            return nc_get_vara_ulonglong(group, id, start, count,
                                         static_cast<unsigned long long*>(data));
        case Scalar::f32:
            return nc_get_vara_float(group, id, start, count, static_cast<float*>(data));
        case Scalar::f64:
            return nc_get_vara_double(group, id, start, count, static_cast<double*>(data));
    }
    return NC_EBADTYPE;
}

/// A scalar has no places, but netCDF wants addresses.
struct NcSlab {
    explicit NcSlab(const Box& box)
        : start(box.offset.begin(), box.offset.end()), count(box.count.begin(), box.count.end()) {
        // Nothing is wanted: begin where every variable begins.
        if (box.empty()) std::fill(start.begin(), start.end(), 0);
        start.resize(std::max<std::size_t>(start.size(), 1), 0);
        count.resize(std::max<std::size_t>(count.size(), 1), 1);
    }
    std::vector<std::size_t> start, count;
};

int mode_of(DataModel model) {
    switch (model) {
        case DataModel::netcdf4:
            break;
        case DataModel::classic:
            return NC_NETCDF4 | NC_CLASSIC_MODEL;
        case DataModel::cdf5:
            return NC_64BIT_DATA;
    }
    return NC_NETCDF4;
}

/// CDF-5 is written in blocks of such a size, 8 KiB if nothing is said; it has no effect on HDF5.
constexpr std::size_t classic_block_bytes = std::size_t{4} << 20;

int create_alone(const std::filesystem::path& path, int mode, int* id) {
    std::size_t block_bytes = classic_block_bytes;
    return nc__create(path.c_str(), mode, 0, &block_bytes, id);
}

const char* remedy(int status, std::string_view call) {
    if (status == NC_ERANGE)
        return "the values do not fit the type in the file: give the object a wider one";
    if (call.starts_with("nc_create") || call.starts_with("nc_open"))
        return "check the hints that were given (without them?), the permissions and the file "
               "system's log";
    return "check the free space, the quota and the file system's log";
}

/// It makes EACCES of all that HDF5 cannot create.
std::string text_of(int status, const std::string& below) {
    if (status == EACCES && below.find("errno = ") != std::string::npos) return below;
    return std::string(nc_strerror(status)) + " (" + std::to_string(status) + ")" +
           (below.empty() ? "" : ": " + below);
}

[[noreturn]] void fail(int status, const char* call, const std::string& where,
                       const std::string& below) {
    const bool full = status == ENOSPC || below.find("No space left") != std::string::npos ||
                      below.find("MPI_ERR_NO_SPACE") != std::string::npos ||
                      below.find("quota exceeded") != std::string::npos;
    const std::string text = text_of(status, below);
    if (status == NC_ENOMEM || core::tells_of_no_memory(text))
        throw core::no_memory(std::string(call) + " has no memory: " + text, where);
    throw Error(full ? Code::no_space : Code::io, std::string(call) + " failed: " + text, where,
                full ? "free space on the file system, or write elsewhere" : remedy(status, call));
}

}  // namespace

void fail(int status, const char* call, const std::string& where) {
    fail(status, call, where, hdf5::Silence::last_failure());
}

std::filesystem::path literal(const std::filesystem::path& path) {
    return std::filesystem::absolute(path);
}

std::string library_version() {
    const std::string text = nc_inq_libvers();
    return text.substr(0, text.find(' '));
}

File create(const std::filesystem::path& path, const Creation& creation, bool parallel,
            MPI_Comm comm, MPI_Info info) {
    const ForTheNextCreate settings(creation);
    const int mode = NC_CLOBBER | mode_of(creation.model);
    check(nc_initialize(), "nc_initialize", path.string());  // or it would end the next one's work
    const hdf5::Overheard said;
    int id = -1;
    const int status = parallel ? nc_create_par(path.c_str(), mode, comm, info, &id)
                                : create_alone(path, mode, &id);
    if (status != NC_NOERR)
        fail(status, parallel ? "nc_create_par" : "nc_create", path.string(), said.text());
    return File(id);
}

File open(const std::filesystem::path& path, bool parallel, MPI_Comm comm, MPI_Info info) {
    int id = -1;
    if (parallel)
        check(nc_open_par(path.c_str(), NC_NOWRITE, comm, info, &id), "nc_open_par", path.string());
    else
        check(nc_open(path.c_str(), NC_NOWRITE, &id), "nc_open", path.string());
    return File(id);
}

File reopen(const std::filesystem::path& path) {
    std::size_t block_bytes = classic_block_bytes;
    int id = -1;
    check(nc__open(path.c_str(), NC_WRITE, &block_bytes, &id), "nc_open", path.string());
    return File(id);
}

int group_of(const File& file, const std::string& path, bool make) {
    int group = file.get();
    for (std::size_t begin = 1, slash; (slash = path.find('/', begin)) != std::string::npos;
         begin = slash + 1) {
        const std::string name = path.substr(begin, slash - begin);
        int inner = -1;
        int status = nc_inq_grp_ncid(group, name.c_str(), &inner);
        if (status == NC_ENOGRP && make) status = nc_def_grp(group, name.c_str(), &inner);
        check(status, "nc_inq_grp_ncid", path);
        group = inner;
    }
    return group;
}

Variable variable(const File& file, const std::string& path) {
    Variable found{group_of(file, path, false), -1};
    const std::string name = path.substr(path.rfind('/') + 1);
    check(nc_inq_varid(found.group, name.c_str(), &found.id), "nc_inq_varid", path);
    nc_type type = NC_NAT;
    check(nc_inq_vartype(found.group, found.id, &type), "nc_inq_vartype", path);
    found.text = type == NC_CHAR;
    return found;
}

nc_type type_of(Scalar type) noexcept {
    switch (type) {
        case Scalar::i8:
            return NC_BYTE;
        case Scalar::u8:
            return NC_UBYTE;
        case Scalar::i16:
            return NC_SHORT;
        case Scalar::u16:
            return NC_USHORT;
        case Scalar::i32:
            return NC_INT;
        case Scalar::u32:
            return NC_UINT;
        case Scalar::i64:
            return NC_INT64;
        case Scalar::u64:
            return NC_UINT64;
        case Scalar::f32:
            return NC_FLOAT;
        case Scalar::f64:
            return NC_DOUBLE;
    }
    return NC_NAT;
}

bool scalar_of(nc_type type, Scalar& scalar) noexcept {
    for (const Scalar one : {Scalar::i8, Scalar::u8, Scalar::i16, Scalar::u16, Scalar::i32,
                             Scalar::u32, Scalar::i64, Scalar::u64, Scalar::f32, Scalar::f64})
        if (type_of(one) == type) {
            scalar = one;
            return true;
        }
    return false;
}

void put(const Variable& variable, const Box& box, Scalar type, const std::byte* data,
         const std::string& where) {
    const NcSlab place(box);
    alignas(8) static const std::byte nothing[8]{};
    const hdf5::Overheard said;
    const std::byte* from = box.empty() ? nothing : data;
    const std::size_t *start = place.start.data(), *count = place.count.data();
    const int status = variable.text
                           ? nc_put_vara_text(variable.group, variable.id, start, count,
                                              reinterpret_cast<const char*>(from))
                           : put_box(variable.group, variable.id, start, count, type, from);
    if (status != NC_NOERR) fail(status, "nc_put_vara", where, said.text());
}

void get(const Variable& variable, const Box& box, Scalar type, std::byte* data,
         const std::string& where) {
    const NcSlab place(box);
    alignas(8) std::byte nothing[8]{};
    std::byte* to = box.empty() ? nothing : data;
    const std::size_t *start = place.start.data(), *count = place.count.data();
    check(variable.text ? nc_get_vara_text(variable.group, variable.id, start, count,
                                           reinterpret_cast<char*>(to))
                        : get_box(variable.group, variable.id, start, count, type, to),
          "nc_get_vara", where);
}

void set_access(const Variable& variable, bool collective, const std::string& where) {
    check(
        nc_var_par_access(variable.group, variable.id, collective ? NC_COLLECTIVE : NC_INDEPENDENT),
        "nc_var_par_access", where);
}

}  // namespace tailrace::formats::netcdf4::nc
