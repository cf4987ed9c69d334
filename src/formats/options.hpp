// SPDX-License-Identifier: Apache-2.0
// How each format is asked to write: typed, free of foreign headers. The parsers of keys stand in
// the formats' folders (hdf5/options.cpp and so on).
#pragma once

#include <any>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/box.hpp"
#include "core/sink.hpp"

namespace tailrace::formats {

/// Chunk extents per object path; an object that is not named is contiguous.
using Chunks = std::map<std::string, core::Extents>;
/// MPI_Info keys and values.
using Hints = std::map<std::string, std::string>;

/// What all may ask of the options of any format.
struct Facts {
    std::string format;                ///< value of key `format`
    bool collective = false;           ///< transfers are collective calls
    bool collective_metadata = false;  ///< metadata is read by collective calls
    bool filtered = false;             ///< stored sizes are not known before
    bool needs_chunks = false;         ///< objects must be chunked: for filters, or for encoding
    bool chooses_chunks = false;       ///< an object that is not in `chunks` gets some all the same
    std::string contiguous{};          ///< where chunks have no effect: after those words
    bool precreate = false;            ///< one rank creates all objects in the first define()
    bool early_allocation = false;     ///< storage is allocated at creation, because asked for
    bool never_fill_time = false;      ///< as HDF5 has it: storage is never filled
    bool several_files = false;
    bool keeps_name = false;          ///< its files cannot be renamed
    bool fills_with_own = false;      ///< of its own accord, with a value that is not 0
    bool parts_of_compounds = false;  ///< single members of elements can be written
    bool calls_hdf5 = false;          ///< files are created and closed by calls of HDF5 itself
    std::string hint_to_swap{};       ///< it lets bytes be turned in memory of the caller
};

/// How floating-point numbers lose bits that say nothing before they are compressed.
enum class Quantize { none, bit_groom, granular_bit_round, bit_round };
[[nodiscard]] constexpr Quantize last_of(Quantize) { return Quantize::bit_round; }  ///< [local]

/// How one object is stored.
struct Storage {
    core::Extents chunks{};               ///< one per dimension; empty: the library chooses
    bool shuffle = false;                 ///< bytes of equal weight side by side
    std::uint64_t deflate = 0;            ///< 0 none, 1..9
    std::optional<std::uint64_t> zstd{};  ///< level 1..22; unset: none
    Quantize quantize = Quantize::none;
    std::uint64_t digits = 0;  ///< decimal digits that stay; bit_round: bits of the mantissa
    [[nodiscard]] bool filtered() const noexcept { return shuffle || deflate != 0 || zstd; }
    static void fields(auto& io, auto& m) {
        io.all(m.chunks, m.shuffle, m.deflate, m.zstd, m.quantize, m.digits);
    }
};
/// By object path; an object that is named there takes nothing from the file-wide options.
using StorageOfObjects = std::map<std::string, Storage>;
/// Whether one of them has filters.  [local]
[[nodiscard]] bool filtered(const StorageOfObjects& storage) noexcept;
/// Equal where they are, to compare ranks.  [local]
[[nodiscard]] std::string text_of(const StorageOfObjects& storage);
/// Refuses levels that do not exist.  [local]
/// @throws core::Error{Code::bad_input} naming the object
void check_levels(const StorageOfObjects& storage);
constexpr unsigned zstd_filter = 32015;  ///< as registered with The HDF Group

namespace hdf5 {
enum class FillTime { if_set, never, at_allocation };
enum class AllocTime { early, late, incremental, library_default };
struct Filter {
    unsigned id = 0;                   ///< registered filter number (zfp: 32013)
    std::string name;                  ///< as the user called it, for messages
    std::vector<unsigned> parameters;  ///< client data values
};
struct Options {
    bool serial = false;  ///< of a Comm of one: no MPI-IO, even if MPI is running
    /// serial: Target::create makes the file, with all objects, and records are added. Attributes
    /// of objects and fill values must be equal; those of the file stay.
    bool append = false;
    bool collective = false;           ///< transfers are collective (H5FD_MPIO_COLLECTIVE)
    bool collective_metadata = false;  ///< H5Pset_all_coll_metadata_ops on file and dataset access
    bool collective_metadata_writes = false;  ///< H5Pset_coll_metadata_write
    bool multi_dataset = false;  ///< pieces of several objects in one call (H5Dwrite_multi)
    bool precreate =
        false;  ///< rank 0 alone creates file and datasets and allocates, then all open
    FillTime fill_time = FillTime::if_set;
    AllocTime alloc_time = AllocTime::early;
    Chunks chunks;
    bool shuffle = false;          ///< bytes of equal weight side by side, before the others
    int deflate = 0;               ///< 0 none, 1..9
    std::vector<Filter> filters;   ///< applied in order, after deflate
    bool fletcher32 = false;       ///< a checksum per chunk, after all others
    StorageOfObjects storage{};    ///< of objects that are stored in a way of their own
    bool encode_on_ranks = false;  ///< each chunk is encoded, and written whole, by one rank alone
    std::uint64_t subfiles = 0;    ///< I/O concentrators of the subfiling driver; 0: not used
    bool reassemble = false;       ///< subfiles are made into one plain file in the end
    std::uint64_t alignment_bytes = 0;  ///< objects of at least alignment_threshold_bytes; 0: off
    std::uint64_t alignment_threshold_bytes = 0;
    std::uint64_t metadata_block_bytes = 0;  ///< 0: library default
    std::uint64_t page_bytes = 0;            ///< file space in pages of this size; 0: not paged
    std::string libver_low = "v110",
                libver_high = "v110";  ///< earliest v18 v110 v112 v114 v200 latest
    Hints hints;

    /// Chunks go through filters, of some object or of that one.  [local]
    [[nodiscard]] bool filtered() const noexcept {
        return file_wide_filters() || formats::filtered(storage);
    }
    [[nodiscard]] bool filtered(const std::string& path) const {
        const auto own = storage.find(path);
        return own == storage.end() ? file_wide_filters() : own->second.filtered();
    }
    [[nodiscard]] bool file_wide_filters() const noexcept {
        return shuffle || deflate != 0 || !filters.empty() || fletcher32;
    }
    [[nodiscard]] Facts facts() const;  ///< [local]
    /// For an object that is stored in a way of its own.  [local]
    [[nodiscard]] Options with(const std::string& path, const Storage& own) const;
};
}  // namespace hdf5

namespace netcdf4 {
/// classic: NC_CLASSIC_MODEL, in HDF5. cdf5: the format CDF-5, by one rank alone (serial).
enum class DataModel { netcdf4, classic, cdf5 };
using formats::Quantize;
enum class Endian { native, little, big };
struct Szip {
    bool nearest_neighbour = true;  ///< otherwise entropy coding
    unsigned pixels_per_block = 16;
};
struct Options {
    bool serial = false;  ///< of a Comm of one: no MPI-IO, even if MPI is running
    /// serial: Target::create makes the file, with all objects, and records are added. Attributes
    /// of objects and fill values must be equal; those of the file stay.
    bool append = false;
    bool collective = false;  ///< NC_COLLECTIVE for every variable, otherwise NC_INDEPENDENT
    bool never_fill = false;  ///< NC_NOFILL; otherwise netCDF's or the object's fill value
    Chunks chunks;
    bool library_chunks = false;  ///< what is not in `chunks` gets the chunks that netCDF chooses
    bool unlimited = false;       ///< the first dimension of every object grows
    DataModel model = DataModel::netcdf4;
    Endian endian = Endian::native;
    bool shuffle = false;
    int deflate = 0;                    ///< 0 none, 1..9
    std::optional<int> zstd;            ///< level; unset: none
    std::optional<Szip> szip;           ///< unset: none
    std::vector<hdf5::Filter> filters;  ///< applied in order, after the others
    Quantize quantize = Quantize::none;
    int quantize_digits = 0;     ///< decimal digits that stay; bit_round: bits of the mantissa
    StorageOfObjects storage{};  ///< of objects that are stored in a way of their own
    std::uint64_t alignment_bytes = 0;  ///< objects of at least alignment_threshold_bytes; 0: off
    std::uint64_t alignment_threshold_bytes = 0;
    std::uint64_t metadata_block_bytes = 0;  ///< 0: library default
    Hints hints;
    /// Chunks go through filters, of some object or of that one.  [local]
    [[nodiscard]] bool filtered() const noexcept {
        return file_wide_filters() || formats::filtered(storage);
    }
    [[nodiscard]] bool filtered(const std::string& path) const {
        const auto own = storage.find(path);
        return own == storage.end() ? file_wide_filters() : own->second.filtered();
    }
    [[nodiscard]] bool file_wide_filters() const noexcept {
        return shuffle || deflate != 0 || zstd || szip || !filters.empty();
    }
    [[nodiscard]] Facts facts() const;  ///< [local]
    /// For an object that is stored in a way of its own.  [local]
    [[nodiscard]] Options with(const std::string& path, const Storage& own) const;
};
}  // namespace netcdf4

namespace mpiio {
struct Options {
    bool collective = false;  ///< MPI_File_write_at_all instead of MPI_File_write_at
    Chunks chunks;            ///< a chunk is contiguous in the file, padded to its full extents
    std::uint64_t alignment_bytes = 4096;  ///< start of each object
    Hints hints;
    [[nodiscard]] Facts facts() const;  ///< [local]
};
}  // namespace mpiio

namespace pnetcdf {
/// How pieces reach the file: by a call each that returns when it is written; collected and written
/// together at the end of the step; or copied into a buffer of ours at once, then as that.
enum class Put { blocking, aggregated, buffered };
struct Options {
    bool collective = false;  ///< ncmpi_put_vara_all and ncmpi_wait_all, or their independent twins
    int cdf = 5;              ///< 1, 2 or 5: the classic file formats CDF-1, CDF-2, CDF-5
    Put put = Put::blocking;
    bool unlimited = false;                    ///< the first dimension of every object grows
    bool never_fill = false;                   ///< also of objects that name a fill value
    std::uint64_t alignment_bytes = 0;         ///< of each fixed-size variable; 0: the library's
    std::uint64_t header_alignment_bytes = 0;  ///< of the end of the header; 0: the library's
    std::uint64_t record_alignment_bytes = 0;  ///< of the first record; 0: the library's
    std::uint64_t header_reserve_bytes = 0;    ///< free space kept behind the header
    std::string burst_buffer;                  ///< folder for its logs; empty: not used
    Hints hints;
    [[nodiscard]] Facts facts() const;  ///< [local]
};
}  // namespace pnetcdf

namespace posix {
struct Options {
    bool file_per_rank = false;
    Chunks chunks;  ///< only for the shared file
    std::uint64_t alignment_bytes = 4096;
    [[nodiscard]] Facts facts() const;  ///< [local]
};
}  // namespace posix

/// The options for one object: with its own storage, if it has one. `all` must outlive it.
template <class Some>
class OptionsOf {
public:
    OptionsOf(const Some& all, const std::string& path) : x_all(all) {
        if (const auto own = all.storage.find(path); own != all.storage.end())
            x_own = all.with(path, own->second);
    }
    [[nodiscard]] const Some& operator*() const noexcept { return x_own ? *x_own : x_all; }

private:
    const Some& x_all;
    std::optional<Some> x_own;
};

class Options;
template <class Own>
concept FormatOptions = !std::same_as<Own, Options> && requires(const Own& own) {
    { own.facts() } -> std::same_as<Facts>;
};

/// The options of one format, whichever; they turn into these and back.
class Options {
public:
    Options() : Options(hdf5::Options{}) {}
    template <FormatOptions Own>
    Options(Own own)  // NOLINT(google-explicit-constructor): they are options
        : x_own(std::move(own)),
          x_facts([](const std::any& held) { return std::any_cast<const Own&>(held).facts(); }),
          x_hints([]([[maybe_unused]] std::any& held) -> Hints* {
              if constexpr (requires(Own & one) { one.hints; })
                  return &std::any_cast<Own&>(held).hints;
              return nullptr;
          }),
          x_chunks([]([[maybe_unused]] std::any& held) -> Chunks* {
              if constexpr (requires(Own & one) { one.chunks; })
                  return &std::any_cast<Own&>(held).chunks;
              return nullptr;
          }) {}
    /// Those of a format that they are known to be of.  [local]
    /// @throws std::bad_any_cast
    template <FormatOptions Own>
    operator const Own&() const {  // NOLINT(google-explicit-constructor)
        return std::any_cast<const Own&>(x_own);
    }
    [[nodiscard]] Facts facts() const { return x_facts(x_own); }  ///< [local]
    /// The MPI_Info entries asked for; nullptr where the format takes none.  [local]
    [[nodiscard]] Hints* hints() { return x_hints(x_own); }
    [[nodiscard]] const Hints* hints() const { return const_cast<Options*>(this)->hints(); }
    /// Sets the chunk extents of an object, where the format has chunks.  [local]
    void set_chunk(const std::string& object, const core::Extents& chunk) {
        if (Chunks* chunks = x_chunks(x_own)) (*chunks)[object] = chunk;
    }

private:
    std::any x_own;
    Facts (*x_facts)(const std::any&);
    Hints* (*x_hints)(std::any&);
    Chunks* (*x_chunks)(std::any&);
};

}  // namespace tailrace::formats
