// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/chunk_driver.hpp"

#include <H5FDdevelop.h>  // the interface of file drivers
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "formats/file/part_file.hpp"

namespace tailrace::formats::hdf5 {

namespace {

constexpr H5FD_class_value_t driver_value = 497;  // 256 to 511 are free for drivers of programs
constexpr haddr_t largest_address = (haddr_t{1} << 63) - 1;

/// What H5Pset_driver carries to open().
struct Settings {
    const std::shared_ptr<ChunkDriver::Caught>* caught;
};

/// HDF5 knows it by its first member.
struct File {
    H5FD_t hdf5{};
    Descriptor fd;
    std::filesystem::path name;
    std::shared_ptr<ChunkDriver::Caught> caught;
    haddr_t end_of_space = 0;
    haddr_t end_of_file = 0;
};

File& file_of(H5FD_t* file) { return *reinterpret_cast<File*>(file); }
const File& file_of(const H5FD_t* file) { return *reinterpret_cast<const File*>(file); }

/// On HDF5's error stack, whose text becomes that of the Error.
herr_t failed(const char* call, hid_t minor, const std::string& text) {
    H5Epush2(H5E_DEFAULT, __FILE__, call, 0, H5E_ERR_CLS, H5E_IO, minor, "%s", text.c_str());
    return -1;
}

template <class Work>
herr_t guarded(const char* call, hid_t minor, Work&& work) noexcept {
    try {
        work();
        return 0;
    } catch (const core::Error& error) {
        return failed(call, minor, error.message());
    } catch (const std::exception& error) {
        return failed(call, minor, error.what());
    }
}

H5FD_t* open(const char* name, unsigned flags, hid_t access, haddr_t) {
    const auto* settings = static_cast<const Settings*>(H5Pget_driver_info(access));
    if (settings == nullptr) return nullptr;
    std::unique_ptr<File> file;
    const herr_t opened = guarded("open", H5E_CANTOPENFILE, [&] {
        file = std::make_unique<File>();
        int how = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
        if ((flags & H5F_ACC_TRUNC) != 0) how |= O_TRUNC;
        file->name = name;
        file->caught = *settings->caught;
        file->fd = Descriptor(open_file(name, how));
        struct stat seen {};
        if (!file->fd.open() || ::fstat(file->fd.get(), &seen) != 0)
            throw system_error(errno, "cannot open the file", name);
        file->end_of_file = static_cast<haddr_t>(seen.st_size);
    });
    return opened < 0 ? nullptr : reinterpret_cast<H5FD_t*>(file.release());
}

herr_t close(H5FD_t* file) {
    const std::unique_ptr<File> owned(&file_of(file));
    return ::close(owned->fd.release()) == 0
               ? 0
               : failed("close", H5E_CANTCLOSEFILE, std::strerror(errno));
}

herr_t query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t end_of_space(const H5FD_t* file, H5FD_mem_t) { return file_of(file).end_of_space; }

herr_t set_end_of_space(H5FD_t* file, H5FD_mem_t, haddr_t address) {
    file_of(file).end_of_space = address;
    return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return file_of(file).end_of_file; }

herr_t handle(H5FD_t* file, hid_t, void** out) {
    // HDF5 passes it on as the address of a descriptor.
    thread_local int fd = -1;
    fd = file_of(file).fd.get();
    *out = &fd;
    return 0;
}

/// What lies behind the end reads as zeros: space that was allocated and not written yet.
herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t bytes, void* data) {
    const File& one = file_of(file);
    return guarded("read", H5E_READERROR, [&] {
        const std::size_t there =
            address < one.end_of_file
                ? static_cast<std::size_t>(std::min<haddr_t>(bytes, one.end_of_file - address))
                : 0;
        read_fully(one.fd.get(), data, there, address, one.name);
        std::memset(static_cast<std::byte*>(data) + there, 0, bytes - there);
    });
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t bytes,
             const void* data) {
    File& one = file_of(file);
    if (one.caught->waiting && type == H5FD_MEM_DRAW) {
        *one.caught = {.waiting = false, .place = StoragePlace{address, bytes}};
        return 0;
    }
    return guarded("write", H5E_WRITEERROR, [&] {
        write_fully(one.fd.get(), data, bytes, address, one.name);
        one.end_of_file = std::max<haddr_t>(one.end_of_file, address + bytes);
    });
}

/// Others may have written behind what this process knows: the end is set, never guessed.
herr_t truncate(H5FD_t* file, hid_t, bool) {
    File& one = file_of(file);
    if (::ftruncate(one.fd.get(), static_cast<off_t>(one.end_of_space)) != 0)
        return failed("truncate", H5E_SEEKERROR, std::strerror(errno));
    one.end_of_file = one.end_of_space;
    return 0;
}

H5FD_class_t driver_class() {
    H5FD_class_t driver{};
    driver.version = H5FD_CLASS_VERSION;
    driver.value = driver_value;
    driver.name = "tailrace_chunks";
    driver.maxaddr = largest_address;
    driver.fc_degree = H5F_CLOSE_WEAK;
    driver.fapl_size = sizeof(Settings);
    driver.open = open;
    driver.close = close;
    driver.query = query;
    driver.get_eoa = end_of_space;
    driver.set_eoa = set_end_of_space;
    driver.get_eof = end_of_file;
    driver.get_handle = handle;
    driver.read = read;
    driver.write = write;
    driver.truncate = truncate;
    constexpr H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), std::begin(driver.fl_map));
    return driver;
}

}  // namespace

ChunkDriver::ChunkDriver() {
    const H5FD_class_t driver = driver_class();
    x_driver = h5::Id(H5FDregister(&driver), H5FDunregister, "H5FDregister", driver.name,
                      core::Code::internal);
}

ChunkDriver::~ChunkDriver() = default;

void ChunkDriver::use(const h5::Id& access) {
    const Settings settings{&x_caught};
    h5::check(H5Pset_driver(access.get(), x_driver.get(), &settings), "H5Pset_driver",
              "file access", core::Code::internal);
}

std::optional<StoragePlace> ChunkDriver::caught() noexcept {
    x_caught->waiting = false;
    return std::exchange(x_caught->place, std::nullopt);
}

}  // namespace tailrace::formats::hdf5
