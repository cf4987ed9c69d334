// SPDX-License-Identifier: Apache-2.0
// Every type through the C++ door, edited metadata, and a call that fails on one rank alone: with
// the argument `fail` it throws past a server that nobody has finalized.
#include <mpi.h>

#include <cstdint>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <tailrace/server.hpp>
#include <utility>
#include <vector>

namespace {

namespace io = tailrace::io;
using tailrace::io::Server;

constexpr std::uint64_t rows = 2, columns = 6;

template <class T>
void put(Server& server, std::int64_t id, const char* name, int rank) {
    std::vector<T> block(rows * columns);
    std::iota(block.begin(), block.end(), static_cast<T>(rank * static_cast<int>(block.size())));
    const std::uint64_t first = static_cast<std::uint64_t>(rank) * rows;
    server.put(id, name, std::span<const T>(block), {first, 0}, {rows, columns});
    const T single[] = {T{7}};
    server.put_replicated(id, std::string("one_") + name, single, {}, {});
}

template <class T>
void add(io::Metadata& metadata, const char* name) {
    metadata.add_variable<T>(name, {"y", "x"});
    metadata.add_variable<T>(std::string("one_") + name);
    metadata.set_fill(name, T{99});
    metadata.set_attribute("one", T{1}, name);
    metadata.set_attribute("two", std::vector<T>{T{1}, T{2}}, name);
}

void refused(const char* what, const auto& call) {
    try {
        call();
        std::cout << what << ": 0\n";
    } catch (const io::Error& error) {
        std::cout << what << ": " << error.code() << ' ' << error.what() << '\n';
    }
}

void run(Server& server, bool fail) {
    int rank = 0, size = 0;
    MPI_Comm_rank(server.comm(), &rank);
    MPI_Comm_size(server.comm(), &size);
    io::Metadata metadata;
    metadata.add_dimension("y", rows * static_cast<std::uint64_t>(size));
    metadata.add_dimension("x", columns);
    add<std::int8_t>(metadata, "int8");
    add<std::int16_t>(metadata, "int16");
    add<std::int32_t>(metadata, "int32");
    add<std::int64_t>(metadata, "int64");
    add<float>(metadata, "real32");
    add<double>(metadata, "real64");
    metadata.add_variable<std::int32_t>("single");
    metadata.add_variable<char>("name", {"y", "x"});
    metadata.set_fill("name", '-');
    metadata.add_variable<char>("word", {"x"});
    metadata.set_constant("word", std::string("Tailra"));
    const std::int64_t id = server.add_collection("kinds", metadata, "file=%Y.nc4");
    server.set_date(id, 2001, 1, 1);
    put<std::int8_t>(server, id, "int8", rank);
    put<std::int16_t>(server, id, "int16", rank);
    put<std::int32_t>(server, id, "int32", rank);
    put<std::int64_t>(server, id, "int64", rank);
    put<float>(server, id, "real32", rank);
    put<double>(server, id, "real64", rank);
    server.put(id, "name", std::string("wind"), {static_cast<std::uint64_t>(rank) * rows, 0},
               {1, 4});

    server.put(id, "single", std::vector<std::int32_t>(rank == 0 ? 1 : 0, 5), {}, {});

    const std::vector<double> block(rows * columns);
    const auto at = [&](const char* name, io::Extents start, io::Extents count) {
        return [&server, &block, id, name, start = std::move(start), count = std::move(count)] {
            server.put(id, name, block, start, count);
        };
    };
    refused("name", at("reel64", {0, 0}, {rows, columns}));
    refused("kind", at("real32", {0, 0}, {rows, columns}));
    refused("shape", at("real64", {0}, {rows * columns}));
    refused("count", at("real64", {0, 0}, {rows, columns + 1}));
    if (fail && rank == 1) at("real64", {0, 1}, {rows, columns})();

    server.end_step(id);
    server.close_file(id);
    io::Metadata next = server.metadata(id);
    next.set_attribute("title", "the second file");
    for (const char* name : {"int8", "int16", "int32", "int64", "real32", "single", "name", "word"})
        next.remove_variable(name);
    server.set_date(id, 2002, 1, 1);
    put<double>(server, id, "real64", rank);
    server.end_step(id);
    server.finalize();
    refused("finalized", at("real64", {0, 0}, {rows, columns}));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        Server server = Server::start(MPI_COMM_WORLD, argc, argv);
        if (server.is_model()) run(server, std::string(argv[argc - 1]) == "fail");
    } catch (const io::Error& error) {
        std::cerr << error.what() << '\n';
        return error.code();
    }
    MPI_Finalize();
    return 0;
}
