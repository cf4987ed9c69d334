// SPDX-License-Identifier: Apache-2.0
// Writes boxes that a text lists, in one batch, and prints how many collective calls that took and
// what HDF5 says of them.
//   hdf5_boxes_writer FILE BOXES DIMS [chunk=EXTENTS] [deflate=1] [members=1] [objects=N]
//                    [subfiles=N]
// A line of BOXES: rank, offset, extents. The value of an element is its place, in f64.
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "collective_writes.hpp"
#include "core/phases.hpp"
#include "formats/hdf5/open.hpp"

namespace {

using namespace tailrace;
using core::Extents;

Extents extents_of(std::string text) {
    for (char& c : text)
        if (c == ',') c = ' ';
    std::istringstream words(text);
    Extents extents;
    for (std::uint64_t size = 0; words >> size;) extents.push_back(size);
    return extents;
}

std::vector<core::Box> boxes_of(const std::string& file, std::size_t dims, int rank) {
    std::ifstream lines(file);
    std::vector<core::Box> boxes;
    for (std::string line; std::getline(lines, line);) {
        const Extents all = extents_of(line);
        if (all.at(0) != static_cast<std::uint64_t>(rank)) continue;
        const auto offset = all.begin() + 1, count = offset + static_cast<std::ptrdiff_t>(dims);
        boxes.push_back({{offset, count}, {count, all.end()}});
    }
    return boxes;
}

core::Schema schema_of(const Extents& dims, std::uint64_t objects, bool members) {
    core::Schema schema;
    for (std::uint64_t k = 0; k < objects; ++k) {
        core::Object object;
        object.path = "/v" + std::to_string(k);
        object.type = core::Scalar::f64;
        for (const std::uint64_t size : dims) object.dims.push_back({size, false});
        if (members)
            for (std::uint64_t m = 0; m < dims.back(); ++m)
                object.members.push_back({"m" + std::to_string(m), core::Scalar::f64});
        else
            object.fill = {true, -1};
        schema.objects.push_back(object);
    }
    return schema;
}

std::vector<double> values_of(const core::Box& box, const Extents& dims) {
    std::vector<double> values(static_cast<std::size_t>(box.volume()));
    core::for_each_run(box, dims, [&](std::uint64_t at, std::uint64_t in_box, std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) values[in_box + i] = static_cast<double>(at + i);
    });
    return values;
}

void write_file(const std::string& path, const std::string& list, const Extents& dims,
                std::map<std::string, std::string> words) {
    const auto comm = comm::from_mpi(MPI_COMM_WORLD);
    const std::uint64_t objects = words.contains("objects") ? extents_of(words["objects"])[0] : 1;
    core::Phases phases;
    formats::hdf5::Options options;
    options.collective = true;
    options.multi_dataset = objects > 1;
    options.deflate = words.contains("deflate") ? 1 : 0;
    if (words.contains("subfiles")) options.subfiles = extents_of(words["subfiles"])[0];
    options.reassemble = words.contains("subfiles");
    for (std::uint64_t k = 0; k < objects; ++k)
        if (words.contains("chunk"))
            options.chunks["/v" + std::to_string(k)] = extents_of(words["chunk"]);
    core::Target target;
    target.path = path;
    auto sink = formats::hdf5::open_sink(comm, target, options, phases);
    const auto ids = sink->define(schema_of(dims, objects, words.contains("members")));
    std::vector<std::vector<double>> values;
    std::vector<core::Write> pieces;
    for (const core::Box& box : boxes_of(list, dims.size(), comm.rank())) {
        values.push_back(values_of(box, dims));
        for (const core::ObjectId id : ids)
            pieces.push_back({id,
                              box,
                              reinterpret_cast<const std::byte*>(values.back().data()),
                              {},
                              core::Scalar::f64});
    }
    const int before = collective_writes;
    sink->write(pieces);
    const std::uint64_t calls = comm.max(static_cast<std::uint64_t>(collective_writes - before));
    sink->complete(0);
    const auto report = sink->close(core::Outcome::publish);
    if (comm.rank() == 0)
        std::printf("%llu %s\n", static_cast<unsigned long long>(calls),
                    report.data_collective.value_or(false) ? "collective" : "not collective");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    int provided = 0, status = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    try {
        std::map<std::string, std::string> words;
        for (int i = 4; i < argc; ++i) {
            const std::string word = argv[i];
            words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
        }
        write_file(argv[1], argv[2], extents_of(argv[3]), words);
    } catch (const core::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
