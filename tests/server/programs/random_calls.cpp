// SPDX-License-Identifier: Apache-2.0
// Plays scripts of calls (tests/server/test_random_calls.py makes them) on ranks that are threads
// or MPI processes: random_calls threads|mpi RANKS_OF_THE_MODEL SERVERS SCRIPT FOLDER [SCRIPT
// FOLDER]...
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "comm/mpi_comm.hpp"
#include "comm/threads.hpp"
#include "server/session.hpp"

using namespace tailrace;
using namespace tailrace::server;

namespace {

/// What element `index` of the array has, by put number `put`: fits every type.
std::int64_t value(std::uint64_t put, std::uint64_t index) {
    return static_cast<std::int64_t>((put * 31 + index * 7) % 120);
}

core::Extents numbers(const std::string& text) {
    core::Extents all;
    std::istringstream from(text);
    for (std::string one; std::getline(from, one, ',');)
        if (one != "-") all.push_back(std::stoull(one));
    return all;
}

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream from(text);
    for (std::string one; std::getline(from, one, ',');)
        if (one != "-") all.push_back(one);
    return all;
}

template <class T>
std::vector<std::byte> filled(const core::Box& box, const core::Extents& extents,
                              std::uint64_t put) {
    std::vector<T> data(box.volume());
    core::for_each_run(box, extents,
                       [&](std::uint64_t in_array, std::uint64_t in_box, std::uint64_t run) {
                           for (std::uint64_t i = 0; i < run; ++i)
                               data[in_box + i] = static_cast<T>(value(put, in_array + i));
                       });
    std::vector<std::byte> bytes(data.size() * sizeof(T));
    if (!data.empty()) std::memcpy(bytes.data(), data.data(), bytes.size());
    return bytes;
}

std::vector<std::byte> filled(Element type, const core::Box& box, const core::Extents& extents,
                              std::uint64_t put) {
    switch (type) {
        case Element::int8:
        case Element::character:
            return filled<std::int8_t>(box, extents, put);
        case Element::int16:
            return filled<std::int16_t>(box, extents, put);
        case Element::int32:
            return filled<std::int32_t>(box, extents, put);
        case Element::int64:
            return filled<std::int64_t>(box, extents, put);
        case Element::real32:
            return filled<float>(box, extents, put);
        case Element::real64:
            break;
    }
    return filled<double>(box, extents, put);
}

class Player {
public:
    Player(Model& model, int rank, std::string folder)
        : x_model(model), x_rank(rank), x_folder(std::move(folder)) {}

    void play(const std::string& line) {
        x_line.clear();
        x_line.str(line);
        const std::string call = word(), name = word();
        if (call == "final") return look(x_model.finalize());
        if (call == "add")
            x_ids[name] = x_model.add_collection(name, x_metadata[name], options());
        else if (call == "date")
            x_model.set_date(x_ids.at(name),
                             {2000, static_cast<int>(number()), static_cast<int>(number())});
        else if (call == "put")
            put(x_ids.at(name));
        else if (call == "step")
            step(x_ids.at(name));
        else if (call == "close")
            look(x_model.close_file(x_ids.at(name)));
        else if (call == "flush")
            look(x_model.flush(x_ids.at(name)));
        else
            edit(call, x_ids.contains(name) ? x_model.metadata(x_ids.at(name)) : x_metadata[name]);
    }

private:
    std::string word() {
        std::string one;
        x_line >> one;
        return one;
    }
    std::uint64_t number() { return std::stoull(word()); }

    CollectionOptions options() {
        CollectionOptions all;
        all.format = word() == "hdf5" ? FileFormat::hdf5 : FileFormat::netcdf4;
        if (const std::string file = word(); file != "-") all.file = x_folder + "/" + file;
        all.records_per_file = number();
        all.depth = number();
        all.deflate = number();
        all.durability = core::Durability::none;
        return all;
    }

    void edit(const std::string& call, FileMetadata& metadata) {
        const std::string name = word();
        if (call == "dim") metadata.add_dimension(name, number());
        if (call == "drop") metadata.remove(name);
        if (call == "attr") metadata.set_attribute(name == "-" ? "" : name, attribute());
        if (call != "var") return;
        Variable one{name, element_of(word()), words(word())};
        if (const std::string fill = word(); fill != "-") {
            if (one.type == Element::real32 || one.type == Element::real64)
                one.fill = std::stod(fill);
            else
                one.fill = std::int64_t{std::stoll(fill)};
        }
        metadata.add(one);
    }

    Attribute attribute() {
        Attribute one{word()};
        one.value = std::vector<std::int32_t>{std::stoi(word())};
        return one;
    }

    /// put NAME FILE VARIABLE RECORD NUMBER REPLICATED [RANK OFFSETS COUNTS]...
    void put(std::uint64_t id) {
        const std::string file = word(), name = word(), record = word();
        const std::uint64_t put = number();
        const FileMetadata& metadata = x_model.metadata(id);
        const Variable& about = metadata.variables()[metadata.index_of(name)];
        const core::Extents extents = metadata.record_extents(about);
        LocalBlock block;
        block.replicated = number() != 0;
        block.box = {core::Extents(extents.size(), 0), core::Extents(extents.size(), 0)};
        std::vector<std::byte> data;
        for (std::string rank = word(); !rank.empty(); rank = word()) {
            const core::Extents offset = numbers(word()), count = numbers(word());
            if (std::stoi(rank) != x_rank && !block.replicated) continue;
            block.box = {offset, count};
            data = filled(about.type, block.box, extents, put);
            block.data = data.data();
        }
        std::optional<std::uint64_t> at;
        if (record != "-") at = std::stoull(record);
        x_model.put(id, file == "-" ? "" : x_folder + "/" + file, name, scalar_of(about.type),
                    block, at);
    }

    void step(std::uint64_t id) {
        const std::string time = word();
        look(x_model.end_step(id, time == "-" ? std::nullopt : std::optional(std::stod(time))));
    }

    static void look(const std::vector<Status>& all) {
        for (const Status& one : all)
            if (one.error) throw core::Error(*one.error);
    }

    Model& x_model;
    int x_rank;
    std::string x_folder;
    std::istringstream x_line;
    std::map<std::string, FileMetadata> x_metadata;
    std::map<std::string, std::uint64_t> x_ids;
};

void play(const comm::Comm& world, std::uint64_t servers, const std::string& script,
          const std::string& folder) {
    Layout layout = plain_layout(static_cast<std::uint64_t>(world.size()), servers, "random_calls");
    layout.slab_bytes = 64;  // many messages
    layout.credit_bytes = 256;
    Session session(world, layout);
    if (!session.is_model()) return;
    Player player(session.model(), session.ranks().rank(), folder);
    std::ifstream lines(script);
    for (std::string line; std::getline(lines, line);) try {
            player.play(line);
        } catch (const core::Error& error) {
            throw core::Error(error.code(), "\"" + line + "\": " + error.what(), script);
        }
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const bool over_mpi = words.at(0) == "mpi";
    if (over_mpi) MPI_Init(&argc, &argv);
    const std::uint64_t servers = std::stoull(words.at(2));
    const int ranks = std::stoi(words.at(1)) + static_cast<int>(servers);
    int code = 0;
    for (std::size_t i = 3; i + 1 < words.size(); i += 2) {
        const auto body = [&](const comm::Comm& world) {
            play(world, servers, words[i], words[i + 1]);
        };
        try {
            if (over_mpi)
                body(comm::from_mpi(MPI_COMM_WORLD));
            else
                comm::run_threads(ranks, body);
        } catch (const std::exception& error) {
            std::cout << error.what() << '\n';
            code = 1;
        }
    }
    if (over_mpi) MPI_Finalize();
    return code;
}
