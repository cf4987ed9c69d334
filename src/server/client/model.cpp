// SPDX-License-Identifier: Apache-2.0
#include "server/client/model.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/config.hpp"

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

void add(std::vector<Status>& to, std::vector<Status> from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// As the metadata call it.
std::string type_name(core::Scalar type) {
    for (const Element one : {Element::int8, Element::int16, Element::int32, Element::int64,
                              Element::real32, Element::real64})
        if (scalar_of(one) == type) return std::string(name(one));
    return std::string(core::name(type));
}

void check_block(const LocalBlock& block, const core::Extents& extents, const std::string& where) {
    if (block.box.count.size() != extents.size() || block.box.offset.size() != extents.size())
        throw Error(Code::bad_input,
                    "a block of " + std::to_string(block.box.count.size()) +
                        " dimensions was put, and a record of it has " +
                        std::to_string(extents.size()),
                    where, "give as many starts and counts, without the unlimited dimension");
    for (std::size_t i = 0; i < extents.size(); ++i)
        if (block.box.count[i] > extents[i] ||
            block.box.offset[i] > extents[i] - block.box.count[i])
            throw Error(Code::bad_input,
                        "the block lies outside: elements " + std::to_string(block.box.offset[i]) +
                            " to " + std::to_string(block.box.offset[i] + block.box.count[i]) +
                            " of dimension " + std::to_string(i + 1) + ", which has " +
                            std::to_string(extents[i]),
                        where, "check start and count of this rank");
    if (block.data == nullptr && !extents.empty() && block.box.volume() > 0)
        throw Error(Code::bad_input, "the block has elements and no memory", where,
                    "pass the array, or a count of 0");
}

}  // namespace

Model::Model(std::unique_ptr<Backend> backend, int rank, Profiler& profiler, Lacking lacking)
    : x_backend(std::move(backend)),
      x_rank(rank),
      x_profiler(profiler),
      x_lacking(std::move(lacking)) {}

Model::Collection& Model::at(std::uint64_t collection, const std::string& where) {
    if (x_finalized)
        throw Error(Code::wrong_call, "the server was finalized already", where,
                    "make all calls before finalize");
    if (collection >= x_collections.size())
        throw Error(Code::wrong_call, "there is no collection " + std::to_string(collection), where,
                    "use the number that add_collection returned");
    return x_collections[collection];
}

/// Before a server finds it out at the first step.
void Model::check_storable(const Collection& one, const std::string& where) const {
    try {
        check(one.spec, x_lacking);
    } catch (const Error& error) {
        throw error.with_where(where + ", " + error.where());
    }
}

std::uint64_t Model::add_collection(const std::string& name, const FileMetadata& metadata,
                                    const CollectionOptions& options, bool again) {
    for (const Collection& one : x_collections)
        if (one.name == name)
            throw Error(Code::bad_input, "there is a collection of this name already", name,
                        "give each collection a name of its own");
    Collection one{name, {metadata, options}, 0, {}, {}, 0, 0, 0};
    one.again = again;
    one.spec.metadata.thaw();
    check_storable(one, "collection " + name);
    Definition definition = definition_of(one.spec);
    one.defined = definition.hash;
    const std::uint64_t number = x_backend->add_collection(name, std::move(definition));
    x_collections.push_back(std::move(one));
    return number;
}

FileMetadata& Model::metadata(std::uint64_t collection) { return at(collection).spec.metadata; }

std::uint64_t Model::record(std::uint64_t collection) const {
    return x_collections.at(collection).record;
}

void Model::set_date(std::uint64_t collection, const Date& date) {
    Collection& one = at(collection);
    const CollectionOptions& options = one.spec.options;
    if (options.file.empty())
        throw Error(Code::wrong_call, "the collection has no template of file names", one.name,
                    "give its options a file such as history.%Y%m%d.nc4");
    one.dated = file_name(options.file, date, options.calendar);
    if (one.dated != one.file) one.spec.metadata.thaw();
}

/// A collection does not replace or interrupt what another one writes.
void Model::check_only_here(const Collection& one, const std::string& file) const {
    const auto same = [name = std::filesystem::path(file).lexically_normal()](const auto& other) {
        return std::filesystem::path(other).lexically_normal() == name;
    };
    const bool appends = one.spec.options.existing == core::Existing::append;
    for (const Collection& other : x_collections)
        if (&other != &one &&
            (same(other.file) ||
             (!appends && std::any_of(other.finished.begin(), other.finished.end(), same))))
            throw Error(Code::wrong_call, "collection " + other.name + " of this run writes it",
                        file, "give each collection files of its own");
}

void Model::begin_file(std::uint64_t number, Collection& one, const std::string& file) {
    if (file == one.file) {
        if (!one.spec.metadata.frozen()) check_unchanged(one);
        return;
    }
    const bool appends = one.spec.options.existing == core::Existing::append;
    if (!one.again && !appends && one.finished.contains(file))
        throw Error(Code::wrong_call, "this run has finished it already", file,
                    "name another file: close_file, flush and records_per_file end one");
    check_only_here(one, file);
    if (one.in_step)
        throw Error(Code::wrong_call, "another file is named within a step: " + file, one.file,
                    "call end_step first: a step belongs to one file");
    Definition definition = definition_of(one.spec);
    if (const std::uint64_t hash = definition.hash; hash != one.defined) {
        check_storable(one, file);
        x_backend->define(number, std::move(definition));
        one.defined = hash;
    }
    if (!one.file.empty()) one.finished.insert(one.file);
    one.file = file;
    one.record = one.next_record = one.steps = 0;
    one.spec.metadata.freeze(file);
}

/// The date may have moved on and back, with edits in between.
void Model::check_unchanged(Collection& one) {
    if (definition_of(one.spec).hash != one.defined)
        throw Error(Code::wrong_call, "metadata were changed while it is written", one.file,
                    "change them before the first put, or for the next file");
    one.spec.metadata.freeze(one.file);
}

/// Ends of a file do not come within a step: what was put of it would belong to none.
void Model::check_no_step(const Collection& one) {
    if (one.in_step)
        throw Error(Code::wrong_call, "a step of it was not ended", "collection " + one.name,
                    "call end_step first");
}

void Model::forget_file(Collection& one) {
    if (!one.file.empty()) one.finished.insert(one.file);
    one.file.clear();
    one.spec.metadata.thaw();
}

void Model::put(std::uint64_t collection, const std::string& file, const std::string& variable,
                core::Scalar type, const LocalBlock& block, std::optional<std::uint64_t> record) {
    Collection& one = at(collection, "variable " + variable);
    const FileMetadata& metadata = one.spec.metadata;
    const std::uint64_t field = metadata.index_of(variable);
    const Variable& about = metadata.variables()[field];
    const std::string where = "variable " + variable + " of collection " + one.name;
    if (const core::Scalar stored = scalar_of(about.type); stored != type)
        throw Error(
            Code::bad_input,
            "it is of type " + type_name(stored) + ", and the array of type " + type_name(type),
            where, "pass an array of the type that the metadata say, or change them");
    const bool nothing =
        block.data == nullptr && (block.box.count.empty() || block.box.volume() == 0);
    if (!nothing) check_block(block, metadata.record_extents(about), where);
    std::string named = file;
    if (named.empty()) named = one.dated.empty() ? one.file : one.dated;
    if (named.empty())
        throw Error(Code::wrong_call, "no file is open, and none is named", where,
                    "name it in put, or give the collection a template and set_date");
    begin_file(collection, one, named);
    const std::uint64_t at = metadata.has_records(about) ? record.value_or(one.record) : 0;
    if (metadata.has_records(about)) one.put_records.insert(at);
    const bool mine = !block.replicated || x_rank == 0;
    const auto region = x_profiler.region("put");
    const auto which = x_profiler.region(one.name);
    x_backend->put(collection, named, field, at, block.box,
                   mine ? static_cast<const std::byte*>(block.data) : nullptr, block.memory);
    one.in_step = true;
    one.next_record = std::max(one.next_record, at + 1);
}

/// The file of the date, if nobody puts anything to it: a put of nothing names it.
void Model::begin_dated(std::uint64_t number, Collection& one) {
    const std::string& file = one.dated;
    if (one.in_step || file.empty() || file == one.file || one.finished.contains(file)) return;
    if (one.spec.metadata.variables().empty()) return;
    begin_file(number, one, file);
    x_backend->put(number, file, 0, 0, {}, nullptr, {});
    one.in_step = true;
}

/// An integer type holds no fraction, and not every number.
static void check_fits(Element type, double time, const std::string& where) {
    if (type == Element::real32 || type == Element::real64) return;
    const double limit = std::ldexp(1.0, static_cast<int>(8 * size_of(type)) - 1);
    if (std::trunc(time) != time || time < -limit || time >= limit)
        throw Error(Code::bad_input,
                    "the time " + std::to_string(time) + " is no " + type_name(scalar_of(type)),
                    where, "give the variable the type real64, or another unit");
}

/// The coordinate, a variable of the name of the unlimited dimension and of nothing else, if it can
/// take this time.
const Variable& Model::coordinate_for(const Collection& one, double time) {
    for (const Variable& variable : one.spec.metadata.variables()) {
        if (variable.dimensions != std::vector{variable.name} ||
            !one.spec.metadata.has_records(variable))
            continue;
        const std::string where = "variable " + variable.name + " of collection " + one.name;
        check_fits(variable.type, time, where);
        if (one.put_records.size() > 1 && !one.put_records.contains(one.record))
            throw Error(Code::wrong_call, "the step puts several records, and gives one time",
                        where, "put the times like other variables");
        return variable;
    }
    throw Error(Code::bad_input, "a time is given, and no variable is its coordinate", one.name,
                "add a variable that is named like the unlimited dimension, with that alone");
}

void Model::put_time(std::uint64_t number, Collection& one, double time) {
    if (!one.file.empty() && !one.spec.metadata.frozen()) check_unchanged(one);
    const Variable& variable = coordinate_for(one, time);
    const bool present = one.put_records.empty() || one.put_records.contains(one.record);
    const std::uint64_t record = present ? one.record : *one.put_records.begin();
    const std::vector<std::byte> value = element_of(variable.type, time);
    put(number, one.file, variable.name, scalar_of(variable.type), {{}, value.data(), true, {}},
        record);
}

std::vector<Status> Model::end_step(std::uint64_t collection, std::optional<double> time) {
    Collection& one = at(collection);
    if (time) static_cast<void>(coordinate_for(one, *time));  // before anything is put
    begin_dated(collection, one);
    if (time) put_time(collection, one, *time);
    const auto region = x_profiler.region("end_step");
    const auto which = x_profiler.region(one.name);
    std::vector<Status> all = x_backend->end_step(collection);
    one.record = one.next_record;
    one.in_step = false;
    one.put_records.clear();
    const std::uint64_t most = one.spec.options.records_per_file;
    if (!one.file.empty() && most > 0 && ++one.steps >= most) {
        end_file(collection);
    }
    return all;
}

void Model::end_file(std::uint64_t collection, core::Outcome outcome) {
    Collection& one = at(collection);
    forget_file(one);
    if (outcome == core::Outcome::discard) {
        one.in_step = false;
        one.put_records.clear();
    }
    x_backend->end_file(collection, outcome);
}

std::vector<Status> Model::close_file(std::uint64_t collection) {
    return end_and_wait(collection, "close_file", &Backend::close_file);
}

std::vector<Status> Model::flush(std::uint64_t collection) {
    return end_and_wait(collection, "flush", &Backend::flush);
}

std::vector<Status> Model::end_and_wait(std::uint64_t collection, const char* name,
                                        std::vector<Status> (Backend::*call)(std::uint64_t)) {
    Collection& one = at(collection);
    check_no_step(one);
    forget_file(one);
    const auto region = x_profiler.region(name);
    const auto which = x_profiler.region(one.name);
    return (*x_backend.*call)(collection);
}

std::vector<Status> Model::finalize() {
    std::vector<Status> all;
    for (const Collection& one : x_collections) check_no_step(one);
    for (std::uint64_t number = 0; number < x_collections.size(); ++number) add(all, flush(number));
    x_finalized = true;
    try {
        add(all, x_backend->finalize());
    } catch (const core::Error& error) {  // a goodbye that failed does not undo what is known
        all.push_back({0, error});
    }
    return all;
}

}  // namespace tailrace::server
