// SPDX-License-Identifier: Apache-2.0
// Which particles lie where, counted element by element, and h5bench's input files.
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "core/error.hpp"
#include "kernels/particle/fill.hpp"
#include "kernels/particle/h5bench.hpp"
#include "kernels/particle/inputs.hpp"

namespace particle = tailrace::kernels::particle;
namespace runner = tailrace::runner;
namespace core = tailrace::core;

namespace {

using Where = std::vector<core::Box> (particle::Geometry::*)(std::uint64_t) const;

/// How often each element is in the boxes of all ranks.
std::vector<int> covered(const particle::Geometry& geometry, Where places) {
    const core::Extents dims = geometry.dims();
    std::uint64_t all = 1;
    for (const std::uint64_t extent : dims) all *= extent;
    std::vector<int> times(all, 0);
    for (std::uint64_t rank = 0; rank < geometry.ranks; ++rank)
        for (const core::Box& box : (geometry.*places)(rank))
            core::for_each_run(box, dims, [&](auto at, auto, auto n) {
                for (; n > 0; --n) ++times.at(at++);
            });
    return times;
}

core::Config config_of(const std::string& lines) {
    core::Config config(particle::key_table());
    config.add_lines(lines, "test", false);
    config.finish();
    return config;
}

std::string refused(const std::string& lines, std::uint64_t ranks = 2) {
    try {
        (void)particle::inputs_from(config_of(lines), ranks);
    } catch (const core::Error& error) {
        return error.what();
    }
    return "accepted";
}

std::string not_translated(const std::string& text) {
    try {
        (void)particle::lines_of(text, "b.json");
    } catch (const core::Error& error) {
        return error.what();
    }
    return "accepted";
}

bool says(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("kernels.particle") {
    TEST_CASE("every particle is written once and read once") {
        for (const core::Extents& per_rank :
             {core::Extents{7}, core::Extents{1}, core::Extents{3, 5}, core::Extents{4, 1},
              core::Extents{2, 3, 4}})
            for (std::uint64_t ranks = 1; ranks <= 5; ++ranks) {
                const particle::Geometry geometry{per_rank, ranks, {}};
                const std::vector<int> written = covered(geometry, &particle::Geometry::places_of);
                const std::vector<int> read =
                    covered(geometry, &particle::Geometry::other_places_of);
                CHECK(written == std::vector<int>(written.size(), 1));
                CHECK(read == std::vector<int>(read.size(), 1));
            }
    }

    TEST_CASE("blocks lie where h5bench's hyperslab has them") {
        const particle::Geometry geometry{{10}, 3, particle::Blocks{4, 2, 2}};
        const std::vector<int> times = covered(geometry, &particle::Geometry::places_of);
        for (std::size_t i = 0; i < times.size(); ++i) {
            const std::size_t own = i % 10;
            const bool expected = own == 0 || own == 1 || own == 4 || own == 5;
            CHECK(times[i] == (expected ? 1 : 0));
            CHECK(geometry.writes(own) == expected);
        }
        CHECK(geometry.particles_per_rank() == 4);
        CHECK(geometry.blocks_of(1, {2, 2, 5}).size() == 1);  // nothing between them
        CHECK(geometry.blocks_of(1, {2, 2, 5}).front() == core::Box{{10}, {10}});
    }

    TEST_CASE("the first particles of a rank are its first ones in row-major order") {
        const particle::Geometry geometry{{3, 4, 2}, 2, {}};
        for (std::uint64_t count = 1; count <= 24; ++count) {
            std::vector<int> times(48, 0);
            for (const core::Box& box : geometry.first_of(1, count))
                core::for_each_run(box, geometry.dims(), [&](auto at, auto, auto n) {
                    for (; n > 0; --n) ++times.at(at++);
                });
            for (std::size_t i = 0; i < times.size(); ++i)
                CHECK(times[i] == (i >= 24 && i < 24 + count ? 1 : 0));
        }
    }

    TEST_CASE("particles side by side and apart are the same particles") {
        particle::Layout apart;
        apart.geometry = {{5}, 2, {}};
        apart.memory = particle::Pattern::interleaved;
        CHECK(apart.rearranges());
        std::vector<std::byte> separate(5 * 32), kept(separate.size()), again(separate.size());
        std::size_t at = 0;
        for (const runner::Piece& piece : apart.pieces(1, apart.geometry.places_of(1))) {
            apart.values(piece.object, piece.place, std::span(separate).subspan(at, 20));
            at += 20;
        }
        apart.keep(separate, kept);
        apart.pack(kept, again);
        CHECK(again == separate);
        particle::Layout together = apart;
        together.file = particle::Pattern::interleaved;
        std::vector<std::byte> particles(separate.size());
        const auto piece = together.pieces(1, together.geometry.places_of(1));
        REQUIRE(piece.size() == 1);
        together.values(piece[0].object, piece[0].place, particles);
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t v = 0; v < 8; ++v) {
                float one = 0, other = 0;
                std::int32_t whole = 0;
                std::memcpy(&one, &particles[i * 32 + v * 4], 4);
                std::memcpy(&other, &kept[i * 32 + v * 4], 4);
                std::memcpy(&whole, &kept[i * 32 + v * 4], 4);
                CHECK(one == (v == 6 ? static_cast<float>(whole) : other));
            }
    }

    TEST_CASE("what cannot be is refused, with the reason") {
        CHECK(says(refused("num_dims 1\ndim_1 4\ndim_2 3"), "dim_2 is 3, but num_dims is 1"));
        CHECK(says(refused("file_pattern strided\ndim_1 8"), "needs stride_size"));
        const std::string blocks = "file_pattern strided\ndim_1 8\nstride_size 3\nblock_size 2\n";
        CHECK(says(refused(blocks + "block_cnt 4"), "do not fit the dim_1 of 8"));
        CHECK(refused(blocks + "block_cnt 3") == "accepted");  // ends with the last particle
        CHECK(says(refused("file_pattern strided\ndim_1 8\nstride_size 1\nblock_size 2\n"
                           "block_cnt 2"),
                   "overlap"));
        CHECK(says(refused("num_particles 9\ndim_1 8"), "num_particles is 9"));
        CHECK(says(refused("mem_pattern interleaved\nnum_dims 3"), "one or two dimensions"));
        CHECK(says(refused("collective_data yes\ncollective_write 0"), "contradicts"));
        CHECK(says(refused("align yes"), "needs align_len"));
        CHECK(says(refused("compress yes\nformat posix"), "no meaning for format posix"));
        CHECK(says(refused("compress yes"), "no chunk_dim_1"));
        CHECK(says(refused("read_option partial"), "needs to_read_num_particles"));
        CHECK(says(refused("read_option partial\ndim_1 8\nto_read_num_particles 9"), "a rank has"));
        CHECK(says(refused("emulated_compute_time_per_timestep 1 h"), "no unit of time"));
        CHECK(says(refused("dim_1 9223372036854775807"), "dim_1"));
        CHECK(says(refused("subfiling yes"), "subfile N"));
        CHECK(says(refused("format pnetcdf"), "classic netCDF has no groups"));
        CHECK(says(refused("encode ranks"), "there is no chunk_dim_1"));
    }

    TEST_CASE("h5bench's names stand for ours") {
        const particle::Inputs inputs = particle::inputs_from(
            config_of("collective_data yes\ncollective_metadata yes\nalign yes\nalign_len 4096\n"
                      "align_threshold 100\nemulated_compute_time_per_timestep 20 ms\ndim_1 64\n"
                      "compress yes\nchunk_dim_1 16\nio_mem_limit 1 G"),
            2);
        const tailrace::formats::hdf5::Options& hdf5 = inputs.options;
        CHECK(hdf5.collective);
        CHECK(hdf5.collective_metadata);
        CHECK(hdf5.collective_metadata_writes);
        CHECK(hdf5.alignment_bytes == 4096);
        CHECK(hdf5.alignment_threshold_bytes == 100);
        CHECK(hdf5.deflate == 9);
        CHECK(hdf5.chunks.at("/Timestep_0/id_2") == core::Extents{16});
        CHECK(inputs.compute.seconds == doctest::Approx(0.02));
        CHECK_FALSE(inputs.compute.busy);
        REQUIRE(inputs.notes.size() == 1);
        CHECK(says(inputs.notes[0], "io_mem_limit has no effect"));
    }

    TEST_CASE("a configuration file becomes lines under its own numbers") {
        const std::string json =
            "{\n\"mpi\": {\"command\": \"mpirun\"},\n\"vol\": {},\n\"file-system\": {\"lustre\": "
            "{\n\"stripe-size\": \"1M\"}},\n\"directory\": \"out\",\n\"benchmarks\": [{\n"
            "\"benchmark\": \"write\", \"file\": \"t.h5\",\n\"configuration\": {\n"
            "\"MEM_PATTERN\": \"CONTIG\",\n\"DIM_1\": \"8 K\",\n\"TIMESTEPS\": \"2\",\n"
            "\"COLLECTIVE_DATA\": \"YES\"\n}}, {\n\"benchmark\": \"read\", \"file\": \"t.h5\",\n"
            "\"configuration\": {\n\"DIM_1\": \"8192\",\n\"TO_READ_NUM_PARTICLES\": \"4\"}}]}";
        const std::string lines = particle::lines_of(json, "b.json");
        const particle::Inputs inputs = particle::inputs_from(config_of(lines), 2);
        CHECK(inputs.filename == "out/t.h5");
        CHECK(inputs.layout.geometry.per_rank == core::Extents{8192});
        CHECK(inputs.striping.size_bytes == 1048576);
        CHECK(inputs.read_option == particle::ReadOption::partial);
        CHECK(config_of(lines).place("dim_1") == "test:11");
        CHECK(says(not_translated("{\"DIM_1\": 4,}"), "b.json:1"));
        CHECK(says(not_translated("{\"DIM_1\": 4, \"DIM_1\": 5}"), "stands twice"));
        CHECK(says(not_translated("{\"DIM_1\": 4, \"MODE\": \"ASYNC\"}"), "would change what is"));
        CHECK(says(not_translated("{\"TIMESTEPS\": 4}"), "no DIM_1"));
        CHECK(says(not_translated("{\"DIM_1\": \"4 Q\"}"), "not a whole number"));
        CHECK(says(not_translated("{\"DIM_1\": \"4\", \"ALIGN\": \"maybe\"}"), "neither YES nor"));
        CHECK(says(not_translated("{\"benchmarks\": [], \"vols\": {}}"), "Did you mean \"vol\""));
        CHECK(says(not_translated("{\"benchmarks\": []}"), "no benchmark of type write"));
        CHECK(particle::lines_of("DIM_1=8 M #x\ntimesteps 3\n#y\n", "c") ==
              "dim_1 8388608\ntimesteps 3\n#y\n");
    }
}
