// SPDX-License-Identifier: Apache-2.0
#include "intent/intents/creation.hpp"

#include <algorithm>

#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

std::string yes_no(bool yes) { return yes ? "yes" : "no"; }

/// What came first in the layer that stands nearest to the format.
struct First {
    std::string from;
    std::optional<Span> reads, writes;
    bool read = false, written = false;

    template <class Layer>
    First(std::string name, const Layer& layer) : from(std::move(name)) {
        const auto take = [](const auto& side, bool& any, std::optional<Span>& active) {
            if (!side) return;
            any = side->bytes.value_or(0) > 0;
            if (any) active = side->active;
        };
        take(layer.reads, read, reads);
        take(layer.writes, written, writes);
    }
    [[nodiscard]] bool writes_came_first() const {
        return written && (!read || (reads && writes && writes->start_s < reads->start_s));
    }
    [[nodiscard]] bool reads_came_first() const {
        return read && (!written || (reads && writes && reads->start_s < writes->start_s));
    }
};

Statement counted(Count creates, const char* from) {
    return Reasons(from)
        .note("creates", creates, "calls")
        .say(yes_no(*creates > 0), Confidence::high);
}

bool is_hdf5(const File& file) {
    return file.hdf5 || std::any_of(file.datasets.begin(), file.datasets.end(),
                                    [](const auto& d) { return d.interface == Interface::hdf5; });
}

/// HDF5 gives the mode for H5Fcreate alone, and reads the beginning of a file that it opens before
/// it writes to it.
Statement created_by_hdf5(const First& first, Known mode, const Reasons& why) {
    if (mode && *mode)
        return why.say("yes", first.from == "mpiio" ? Confidence::high : Confidence::medium);
    if (first.writes_came_first()) return why.say("yes", Confidence::medium);
    if (first.reads_came_first()) return why.say("no", Confidence::medium);
    return Statement{};
}

/// Others may open in that mode a file that is there.
Statement created_by_others(const First& first, Known mode, const Reasons& why) {
    if (!mode) return Statement{};
    if (!*mode || !first.written) return why.say("no", Confidence::medium);
    if (!first.writes_came_first()) return Statement{};
    return why.say("yes", first.from == "mpiio" ? Confidence::medium : Confidence::low);
}

template <class Layer>
Statement by_layer(const File& file, const Layer& layer, const char* name) {
    const First first(name, layer);
    Reasons why(name);
    if (layer.create_mode) why.note("create_mode", yes_no(*layer.create_mode));
    if (first.reads) why.note("first_read", Seconds(first.reads->start_s));
    if (first.writes) why.note("first_write", Seconds(first.writes->start_s));
    return is_hdf5(file) ? created_by_hdf5(first, layer.create_mode, why)
                         : created_by_others(first, layer.create_mode, why);
}

}  // namespace

Statement created_of(const File& file) {
    if (file.hdf5 && file.hdf5->creates) return counted(file.hdf5->creates, "hdf5");
    if (file.pnetcdf && file.pnetcdf->creates) return counted(file.pnetcdf->creates, "pnetcdf");
    if (file.mpiio) return by_layer(file, *file.mpiio, "mpiio");
    return file.posix ? by_layer(file, *file.posix, "posix") : Statement{};
}

}  // namespace tailrace::intent
