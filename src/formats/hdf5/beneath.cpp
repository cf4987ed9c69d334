// SPDX-License-Identifier: Apache-2.0
#include "formats/hdf5/beneath.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "formats/hdf5/abandon.hpp"
#include "formats/hdf5/h5.hpp"
#include "formats/hdf5/in_force.hpp"
#include "formats/hdf5/properties.hpp"
#include "formats/hdf5/readable.hpp"

namespace tailrace::formats::hdf5 {

namespace {

/// The id as an owner that does not close it.
h5::Id borrowed(std::int64_t id) { return {static_cast<hid_t>(id), nullptr, "H5Fget_obj_ids", ""}; }

h5::Id dataset(const h5::Id& file, const std::string& path) {
    return h5::open_dataset(file, path, h5::property_list(H5P_DATASET_ACCESS, path.c_str()));
}

}  // namespace

Silence::Silence() noexcept {
    H5E_auto2_t function = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &function, &x_data);
    x_function = reinterpret_cast<void (*)()>(function);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Silence::~Silence() {
    H5Eset_auto2(H5E_DEFAULT, reinterpret_cast<H5E_auto2_t>(x_function), x_data);
}

std::string Silence::last_failure() { return h5::take_error_stack(); }

Overheard::Overheard() noexcept {
    H5Eset_auto2(
        H5E_DEFAULT,
        [](hid_t, void* text) {
            *static_cast<std::string*>(text) = h5::take_error_stack();
            return herr_t{0};
        },
        &x_text);
}

Overheard::~Overheard() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

void give_up(int descriptor, bool closed) noexcept {
    if (descriptor < 0) return;
    static std::mutex mutex;
    static std::array<int, 32> kept;
    static std::size_t count = 0;
    struct ::stat about {};
    if (!closed && ::fstat(descriptor, &about) == 0 && about.st_nlink == 0) {
        static_cast<void>(::ftruncate(descriptor, 0));  // its space is free
        const std::lock_guard lock(mutex);
        if (count++ < kept.size())
            kept[count - 1] = descriptor;
        else
            std::swap(kept[count % kept.size()], descriptor);
        if (count <= kept.size()) return;
    }
    ::close(descriptor);
}

std::vector<std::int64_t> open_files() {
    const ssize_t count = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_FILE);
    if (count <= 0) return {};
    std::vector<hid_t> ids(static_cast<std::size_t>(count));
    const ssize_t found =
        H5Fget_obj_ids(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_FILE, ids.size(), ids.data());
    ids.resize(static_cast<std::size_t>(std::max<ssize_t>(found, 0)));
    return {ids.begin(), ids.end()};
}

Beneath::Beneath(const std::vector<std::int64_t>& before) {
    for (const std::int64_t id : open_files())
        if (std::find(before.begin(), before.end(), id) == before.end()) x_file = id;
}

void Beneath::redirect_to_memory() const noexcept {
    if (x_file < 0) return;
    try {
        hdf5::redirect_to_memory(borrowed(x_file));
    } catch (...) {  // an id that is gone: nothing is open
    }
}

int Beneath::redirect_plain_to_memory() const noexcept {
    try {
        if (x_file >= 0) return hdf5::redirect_plain_to_memory(borrowed(x_file));
    } catch (...) {  // an id that is gone: nothing is open
    }
    return -1;
}

void Beneath::try_to_close(const std::string& name) const {
    hdf5::try_to_close(borrowed(x_file), name);
}

void Beneath::set_extent(const std::string& path, const core::Extents& dims) const {
    const std::vector<hsize_t> extents(dims.begin(), dims.end());
    const h5::Id found = dataset(borrowed(x_file), path);
    h5::check(H5Dset_extent(found.get(), extents.data()), "H5Dset_extent", path);
}

std::uint64_t Beneath::stored_bytes(const std::vector<std::string>& paths) const {
    const h5::Id file = borrowed(x_file);
    std::uint64_t bytes = 0;
    for (const std::string& path : paths) bytes += H5Dget_storage_size(dataset(file, path).get());
    return bytes;
}

Readable Beneath::prepare_to_read(const std::string& path, bool load_index) const {
    return hdf5::prepare_to_read(dataset(borrowed(x_file), path), path, load_index);
}

Beneath::InForce Beneath::in_force(const Hints& hints, bool parallel) const {
    Options options;
    options.hints = hints;
    hdf5::InForce found =
        look(borrowed(x_file), options, parallel ? Driver::parallel : Driver::serial);
    return {std::move(found.settings), std::move(found.hints), std::move(found.mpi_io)};
}

bool has_filter(unsigned id) {
    const h5::Quiet quiet;
    return h5::filter_available(id);
}

void look_at_datasets(const std::string& name, const std::vector<std::string>& paths,
                      std::map<std::string, std::string>& settings) {
    const h5::Id access = file_access(Options{}, comm::Comm::self(), Driver::serial);
    h5::Id file = h5::open_file(name, false, access);
    for (const std::string& path : paths) look_at_dataset(file, path, paths.size() == 1, settings);
    file.close("H5Fclose", name);
}

void check_dataset(const core::Object& object, const Chunks& chunks) {
    Options options;
    if (const auto chunk = chunks.find(object.path); chunk != chunks.end())
        options.chunks.insert(*chunk);
    check_object(options, object);
}

}  // namespace tailrace::formats::hdf5
