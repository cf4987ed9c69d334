// SPDX-License-Identifier: Apache-2.0
#include "formats/pnetcdf/nc.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "comm/mpi_comm.hpp"
#include "core/error.hpp"
#include "formats/mpiio/info.hpp"
#include "formats/pnetcdf/nc_types.hpp"

namespace tailrace::formats::pnetcdf::nc {

using core::Code;
using core::Error;

namespace {

/// What went wrong, and what to do about it.
Error error_of(int code, const char* call, const std::string& where) {
    const std::string text = std::string(call) + ": " + ncmpi_strerror(code);
    switch (code) {
        case NC_ENO_SPACE:
        case NC_EQUOTA:
            return Error(Code::no_space, text, where,
                         "free space there, or write to another file system");
        case NC_ERANGE:
            return Error(Code::bad_input, text, where,
                         "the values do not fit the type in the file: give the object a wider one");
        case NC_EVARSIZE:
            return Error(Code::bad_input, text, where, "use `cdf 5`");
        case NC_ENOTNC:
            return Error(Code::bad_input, text, where,
                         "it is no classic netCDF file: is it HDF5 or netCDF-4?");
        case NC_ENOMEM:
            return core::no_memory(text, where);
        default:
            return Error(Code::io, text, where,
                         "check the free space, the quota and the file system's log");
    }
}

/// PnetCDF takes what stands before a colon for a file system, and ROMIO as well; OMPIO does not.
Error colon_error(int code, const std::filesystem::path& name) {
    return Error(Code::unsupported,
                 "PnetCDF cannot open a name with a colon through this MPI-IO (ncmpi_open: " +
                     std::string(ncmpi_strerror(code)) + ")",
                 name.string(),
                 "choose a name and a folder without a colon, or use ROMIO (mpiexec --mca io "
                 "romio321 with Open MPI)");
}

/// Positions as PnetCDF wants them; never empty, scalars have nothing to say.
struct MpiSlab {
    std::vector<MPI_Offset> start, count;
    explicit MpiSlab(const core::Box& box)
        : start(box.offset.begin(), box.offset.end()), count(box.count.begin(), box.count.end()) {
        start.push_back(0);
        count.push_back(1);
    }
};

std::uint64_t unsigned_of(MPI_Offset value) { return static_cast<std::uint64_t>(value); }

}  // namespace

std::string library_version() {
    const std::string text = ncmpi_inq_libvers();  // "1.12.3 of 21 Feb 2022"
    return text.substr(0, text.find(' '));
}

bool has_burst_buffer() noexcept {
#if defined(PNETCDF_BURST_BUFFERING) && PNETCDF_BURST_BUFFERING
    return true;
#else
    return false;
#endif
}

void File::check(int code, const char* call, const std::string& what) const {
    if (code != NC_NOERR) throw error_of(code, call, what.empty() ? x_name : x_name + ":" + what);
}

File File::open(const comm::Comm& comm, const std::filesystem::path& path,
                const std::filesystem::path& name, bool writable, const Hints& hints) {
    const comm::ErrorsReturn guard;
    const mpiio::Info info(hints);
    File file;
    file.x_name = name.string();
    int id = -1;
    const int code = ncmpi_open(comm::native(comm), path.c_str(), writable ? NC_WRITE : NC_NOWRITE,
                                info.get(), &id);
    if (code != NC_NOERR && path.string().find(':') != std::string::npos)
        throw colon_error(code, name);
    file.check(code, "ncmpi_open");
    file.x_id = id;
    return file;
}

File::File(File&& other) noexcept
    : x_id(std::exchange(other.x_id, -1)), x_name(std::move(other.x_name)) {}

File& File::operator=(File&& other) noexcept {
    x_id = std::exchange(other.x_id, -1);
    x_name = std::move(other.x_name);
    return *this;
}

// --- definitions ------------------------------------------------------------------------------

void File::begin_definitions() {
    check(ncmpi_redef(x_id), "ncmpi_redef");
    // The library's default is no fill, but not of every version by word.
    check(ncmpi_set_fill(x_id, NC_NOFILL, nullptr), "ncmpi_set_fill");
}

void File::end_definitions(std::uint64_t header_reserve_bytes) {
    const comm::ErrorsReturn guard;
    check(ncmpi__enddef(x_id, static_cast<MPI_Offset>(header_reserve_bytes), 0, 0, 0),
          "ncmpi__enddef");
}

int File::define_dimension(const std::string& name, std::uint64_t size) {
    int dimension = -1;
    check(ncmpi_def_dim(x_id, name.c_str(),
                        size == 0 ? NC_UNLIMITED : static_cast<MPI_Offset>(size), &dimension),
          "ncmpi_def_dim", name);
    return dimension;
}

int File::define_variable(const std::string& name, core::Scalar type,
                          std::span<const int> dimensions) {
    int variable = -1;
    check(ncmpi_def_var(x_id, name.c_str(), file_type(type), static_cast<int>(dimensions.size()),
                        dimensions.data(), &variable),
          "ncmpi_def_var", name);
    return variable;
}

void File::set_fill(int variable, core::Scalar type, const core::Fill& fill) {
    std::array<std::byte, 8> bytes{};
    if (fill.set) store_number(type, fill, bytes);
    check(ncmpi_def_var_fill(x_id, variable, fill.set ? 0 : 1, fill.set ? bytes.data() : nullptr),
          "ncmpi_def_var_fill");
}

void File::put_attribute(int variable, const std::string& name, const Value& value) {
    const int holder = variable == global ? NC_GLOBAL : variable;
    const int code = std::visit(
        [&](const auto& held) {
            using Held = std::decay_t<decltype(held)>;
            const auto length = static_cast<MPI_Offset>(held.size());
            if constexpr (std::is_same_v<Held, std::string>) {
                return ncmpi_put_att_text(x_id, holder, name.c_str(), length, held.data());
            } else {
                const core::Scalar type = core::scalar_of_number<typename Held::value_type>();
                return ncmpi_put_att(x_id, holder, name.c_str(), file_type(type), length,
                                     held.data());
            }
        },
        value);
    check(code, "ncmpi_put_att", name);
}

void File::fill_record(int variable, std::uint64_t record) {
    const comm::ErrorsReturn guard;
    check(ncmpi_fill_var_rec(x_id, variable, static_cast<MPI_Offset>(record)),
          "ncmpi_fill_var_rec");
}

void File::begin_independent() {
    const comm::ErrorsReturn guard;
    check(ncmpi_begin_indep_data(x_id), "ncmpi_begin_indep_data");
}

void File::end_independent() {
    const comm::ErrorsReturn guard;
    check(ncmpi_end_indep_data(x_id), "ncmpi_end_indep_data");
}

void File::share_number_of_records() {
    const comm::ErrorsReturn guard;
    check(ncmpi_sync_numrecs(x_id), "ncmpi_sync_numrecs");
}

void File::close() {
    if (x_id < 0) return;
    const comm::ErrorsReturn guard;
    check(ncmpi_close(std::exchange(x_id, -1)), "ncmpi_close");
}

std::string File::name_of(int variable) const {
    std::array<char, NC_MAX_NAME + 1> name{};
    const bool known = ncmpi_inq_varname(x_id, variable, name.data()) == NC_NOERR;
    return known ? name.data() : "";
}

// --- data -------------------------------------------------------------------------------------

void File::put(int variable, const core::Box& box, const std::byte* data, core::Scalar type,
               bool collective) {
    const comm::ErrorsReturn guard;
    const MpiSlab place(box);
    const auto count = static_cast<MPI_Offset>(box.volume());
    const int code = collective
                         ? ncmpi_put_vara_all(x_id, variable, place.start.data(),
                                              place.count.data(), data, count, memory_type(type))
                         : ncmpi_put_vara(x_id, variable, place.start.data(), place.count.data(),
                                          data, count, memory_type(type));
    if (code != NC_NOERR)
        check(code, collective ? "ncmpi_put_vara_all" : "ncmpi_put_vara", name_of(variable));
}

void File::post_put(int variable, const core::Box& box, const std::byte* data, core::Scalar type,
                    bool buffered, std::vector<int>& requests) {
    const comm::ErrorsReturn guard;
    const MpiSlab place(box);
    const auto count = static_cast<MPI_Offset>(box.volume());
    int request = NC_REQ_NULL;
    const int code = buffered
                         ? ncmpi_bput_vara(x_id, variable, place.start.data(), place.count.data(),
                                           data, count, memory_type(type), &request)
                         : ncmpi_iput_vara(x_id, variable, place.start.data(), place.count.data(),
                                           data, count, memory_type(type), &request);
    if (request != NC_REQ_NULL) requests.push_back(request);
    if (code != NC_NOERR)
        check(code, buffered ? "ncmpi_bput_vara" : "ncmpi_iput_vara", name_of(variable));
}

void File::post_get(int variable, const core::Box& box, std::byte* data, core::Scalar type,
                    std::vector<int>& requests) {
    const comm::ErrorsReturn guard;
    const MpiSlab place(box);
    int request = NC_REQ_NULL;
    const int code =
        ncmpi_iget_vara(x_id, variable, place.start.data(), place.count.data(), data,
                        static_cast<MPI_Offset>(box.volume()), memory_type(type), &request);
    if (request != NC_REQ_NULL) requests.push_back(request);
    if (code != NC_NOERR) check(code, "ncmpi_iget_vara", name_of(variable));
}

void File::wait(std::vector<int>& requests, bool collective) {
    const comm::ErrorsReturn guard;
    std::vector<int> status(requests.size() + 1, NC_NOERR);
    const int number = static_cast<int>(requests.size());
    const int code = collective ? ncmpi_wait_all(x_id, number, requests.data(), status.data())
                                : ncmpi_wait(x_id, number, requests.data(), status.data());
    requests.clear();
    const char* call = collective ? "ncmpi_wait_all" : "ncmpi_wait";
    check(code, call);
    const auto failed =
        std::find_if(status.begin(), status.end(), [](int one) { return one != NC_NOERR; });
    if (failed != status.end()) check(*failed, call);
}

void File::cancel(std::vector<int>& requests) noexcept {
    if (x_id >= 0 && !requests.empty())
        (void)ncmpi_cancel(x_id, static_cast<int>(requests.size()), requests.data(), nullptr);
    requests.clear();
}

void File::attach_buffer(std::uint64_t bytes) {
    check(ncmpi_buffer_attach(x_id, static_cast<MPI_Offset>(bytes)), "ncmpi_buffer_attach");
}

void File::detach_buffer() { check(ncmpi_buffer_detach(x_id), "ncmpi_buffer_detach"); }

// --- what the file says -----------------------------------------------------------------------

int File::format() const {
    int format = 0;
    check(ncmpi_inq_format(x_id, &format), "ncmpi_inq_format");
    return format == NC_FORMAT_CDF5 ? 5 : format == NC_FORMAT_CDF2 ? 2 : 1;
}

Hints File::hints() const {
    MPI_Info info = MPI_INFO_NULL;
    check(ncmpi_inq_file_info(x_id, &info), "ncmpi_inq_file_info");
    Hints hints = mpiio::in_force_of(info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return hints;
}

std::vector<Variable> File::variables() const {
    int number = 0;
    check(ncmpi_inq_nvars(x_id, &number), "ncmpi_inq_nvars");
    std::vector<Variable> all;
    for (int v = 0; v < number; ++v) {
        std::array<char, NC_MAX_NAME + 1> name{};
        nc_type type = NC_NAT;
        int rank = 0;
        check(ncmpi_inq_varndims(x_id, v, &rank), "ncmpi_inq_varndims");
        Variable one;
        one.dimensions.resize(static_cast<std::size_t>(rank));
        check(ncmpi_inq_var(x_id, v, name.data(), &type, nullptr, one.dimensions.data(), nullptr),
              "ncmpi_inq_var");
        one.name = name.data();
        one.type = scalar_of(type);
        all.push_back(std::move(one));
    }
    return all;
}

std::uint64_t File::dimension_size(int dimension) const {
    MPI_Offset size = 0;
    check(ncmpi_inq_dimlen(x_id, dimension, &size), "ncmpi_inq_dimlen");
    return unsigned_of(size);
}

int File::unlimited_dimension() const {
    int dimension = -1;
    check(ncmpi_inq_unlimdim(x_id, &dimension), "ncmpi_inq_unlimdim");
    return dimension;
}

std::uint64_t File::header_bytes() const {
    MPI_Offset bytes = 0;
    check(ncmpi_inq_header_size(x_id, &bytes), "ncmpi_inq_header_size");
    return unsigned_of(bytes);
}

std::uint64_t File::header_extent_bytes() const {
    MPI_Offset bytes = 0;
    check(ncmpi_inq_header_extent(x_id, &bytes), "ncmpi_inq_header_extent");
    return unsigned_of(bytes);
}

std::uint64_t File::offset_of(int variable) const {
    MPI_Offset offset = 0;
    check(ncmpi_inq_varoffset(x_id, variable, &offset), "ncmpi_inq_varoffset");
    return unsigned_of(offset);
}

std::uint64_t File::record_bytes() const {
    MPI_Offset bytes = 0;
    check(ncmpi_inq_recsize(x_id, &bytes), "ncmpi_inq_recsize");
    return unsigned_of(bytes);
}

bool File::fills(int variable) const {
    int none = 0;
    check(ncmpi_inq_var_fill(x_id, variable, &none, nullptr), "ncmpi_inq_var_fill");
    return none == 0;
}

}  // namespace tailrace::formats::pnetcdf::nc
