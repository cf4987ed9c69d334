// SPDX-License-Identifier: Apache-2.0
#include "server/client/model_sink.hpp"

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

Element element_of(const core::Object& object) {
    switch (object.type) {
        case core::Scalar::i8:
            return Element::int8;
        case core::Scalar::i16:
            return Element::int16;
        case core::Scalar::i32:
            return Element::int32;
        case core::Scalar::i64:
            return Element::int64;
        case core::Scalar::f32:
            return Element::real32;
        case core::Scalar::f64:
            return Element::real64;
        default:
            break;
    }
    throw Error(Code::unsupported,
                "elements of type " + std::string(core::name(object.type)) +
                    " are nothing that a server writes",
                object.path, "take signed integers or floating-point numbers");
}

AttributeValue value_of(const core::Attribute& attribute) {
    if (const auto* scalar = std::get_if<core::AttributeScalar>(&attribute.value))
        return std::visit(
            [](const auto& value) -> AttributeValue {
                using T = std::decay_t<decltype(value)>;
                if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>)
                    return std::vector{static_cast<std::int64_t>(value)};
                else if constexpr (std::is_same_v<T, std::string>)
                    return value;
                else
                    return std::vector{value};
            },
            *scalar);
    throw Error(Code::unsupported, "attribute " + attribute.name + " is a list", attribute.object,
                "take numbers and texts");
}

std::string plain_name(const std::string& path) { return path.substr(1); }

Variable variable_of(const core::Object& object, const Storage& storage, FileMetadata& metadata) {
    Variable variable{plain_name(object.path), element_of(object)};
    variable.storage = storage;
    for (std::size_t i = 0; i < object.dims.size(); ++i) {
        const bool unlimited = object.dims[i].unlimited;
        const std::uint64_t size = unlimited ? 0 : object.dims[i].size;
        std::string name = i < object.axes.size() ? object.axes[i] : "";
        if (name.empty()) name = variable.name + "_" + std::to_string(i + 1);
        bool there = false;
        for (const Dimension& one : metadata.dimensions()) there = there || one.name == name;
        if (!there) metadata.add_dimension(name, size);
        variable.dimensions.push_back(std::move(name));
    }
    if (object.fill.set) variable.fill = object.fill.value;
    return variable;
}

}  // namespace

FileMetadata metadata_of(const core::Schema& schema, const Storage& storage) {
    FileMetadata metadata;
    for (const core::Object& object : schema.objects)
        metadata.add(variable_of(object, storage, metadata));
    for (const core::Attribute& one : schema.attributes)
        metadata.set_attribute(one.object == "/" ? "" : plain_name(one.object),
                               {one.name, value_of(one)});
    return metadata;
}

/// The close of a file, until its status is there.
class PostedClose final : public core::Pending<core::FileReport>::State {
public:
    PostedClose(ModelFiles& files, std::optional<std::uint64_t> collection, core::Outcome outcome,
                core::FileReport report, core::Phases& phases)
        : x_files(files),
          x_collection(collection),
          x_outcome(outcome),
          x_report(std::move(report)),
          x_phases(phases) {}

    core::FileReport wait() override {
        {
            const auto phase = x_phases.enter("publish");
            if (x_collection) x_files.take(x_files.x_model.flush(*x_collection));
        }
        const comm::Comm& ranks = x_files.x_ranks;
        x_report.bytes_logical = ranks.sum(x_report.bytes_logical);
        if (x_outcome == core::Outcome::discard) {
            std::error_code ignored;
            if (ranks.rank() == 0) std::filesystem::remove(x_report.path, ignored);
            return std::move(x_report);
        }
        x_files.fail_if_failed();
        x_report.parts = {x_report.path.string()};
        x_report.bytes_stored =
            ranks.agree_on([&] { return std::filesystem::file_size(x_report.path); });
        return std::move(x_report);
    }

private:
    ModelFiles& x_files;
    std::optional<std::uint64_t> x_collection;
    core::Outcome x_outcome;
    core::FileReport x_report;
    core::Phases& x_phases;
};

class ModelSink final : public core::Sink {
public:
    ModelSink(ModelFiles& files, const core::Target& target, core::Phases& phases)
        : x_files(files), x_phases(phases) {
        x_report.path = target.path;
        x_report.durable = files.x_options.durable;
        x_can.records = x_can.async = true;
    }
    ModelSink(const ModelSink&) = delete;
    ModelSink& operator=(const ModelSink&) = delete;
    ~ModelSink() override = default;

    [[nodiscard]] const core::Capabilities& can() const noexcept override { return x_can; }

    std::vector<core::ObjectId> define(const core::Schema& schema) override {
        const auto phase = x_phases.enter("define");
        if (x_collection)
            throw Error(Code::unsupported, "objects are added to a file that is defined already",
                        x_report.path.string(), "define all of them at once");
        const FileMetadata metadata = metadata_of(schema, x_files.x_storage);
        x_collection = x_files.collection_of(metadata);
        x_objects = schema.objects;
        std::vector<core::ObjectId> ids;
        for (std::size_t i = 0; i < x_objects.size(); ++i)
            ids.push_back(static_cast<core::ObjectId>(i));
        return ids;
    }

    /// All ranks put all objects, in one order, also with nothing.
    void write(std::span<const core::Write> pieces) override {
        const auto phase = x_phases.enter("write");
        std::vector<const core::Write*> of_object(x_objects.size(), nullptr);
        for (const core::Write& piece : pieces) {
            if (piece.place.volume() == 0) continue;
            if (std::exchange(of_object[piece.object], &piece) != nullptr)
                throw Error(Code::unsupported, "a rank has two pieces of one object",
                            x_objects[piece.object].path, "write them in two calls");
        }
        for (std::size_t object = 0; object < x_objects.size(); ++object)
            put(x_objects[object], of_object[object]);
    }

    void complete(core::Step) override {
        const auto phase = x_phases.enter("write");
        x_files.take(x_files.x_model.end_step(*x_collection));
        ++x_record;
        x_files.fail_if_failed();
    }

    core::Ticket sync(core::Durability) override { return {}; }  // a file is synced at its end

    core::Pending<core::FileReport> post_close(core::Outcome outcome) override {
        const auto phase = x_phases.enter("close");
        if (x_collection) x_files.x_model.end_file(*x_collection);
        return core::Pending<core::FileReport>(std::make_unique<PostedClose>(
            x_files, x_collection, outcome, std::move(x_report), x_phases));
    }

private:
    void put(const core::Object& object, const core::Write* piece) {
        const bool record = !object.dims.empty() && object.dims[0].unlimited;
        LocalBlock block;
        const std::size_t dims = object.dims.size() - (record ? 1 : 0);
        block.box = {core::Extents(dims, 0), core::Extents(dims, 0)};
        std::uint64_t at = x_record;
        if (piece != nullptr) {
            block = {piece->place, piece->data, false, piece->memory};
            x_report.bytes_logical += piece->place.volume() * core::size_of(piece->type);
            if (record) at = without_record(block);
        }
        x_files.x_model.put(*x_collection, x_report.path.string(), plain_name(object.path),
                            object.type, block, at);
    }

    static std::uint64_t without_record(LocalBlock& block) {
        const std::uint64_t at = block.box.offset[0];
        if (block.box.count[0] != 1)
            throw Error(Code::unsupported, "a piece of several records", "",
                        "write one record at a time");
        const auto shorten = [](core::Extents& extents) {
            if (!extents.empty()) extents.erase(extents.begin());
        };
        for (core::Extents* one :
             {&block.box.offset, &block.box.count, &block.memory.dims, &block.memory.offset})
            shorten(*one);
        return at;
    }

    ModelFiles& x_files;
    core::Phases& x_phases;
    core::Capabilities x_can;
    core::FileReport x_report;
    std::optional<std::uint64_t> x_collection;
    std::vector<core::Object> x_objects;
    std::uint64_t x_record = 0;
};

ModelFiles::ModelFiles(const comm::Comm& ranks, Model& model, CollectionOptions options,
                       Storage storage)
    : x_ranks(ranks),
      x_model(model),
      x_options(std::move(options)),
      x_storage(std::move(storage)) {}

std::unique_ptr<core::Sink> ModelFiles::sink(const core::Target& target, core::Phases& phases) {
    return std::make_unique<ModelSink>(*this, target, phases);
}

std::uint64_t ModelFiles::collection_of(const FileMetadata& metadata) {
    FileMetadata variables = metadata;  // files of a series differ in attributes of their own
    while (!variables.attributes().empty())
        variables.remove_attribute("", variables.attributes().front().name);
    const std::uint64_t hash = variables.hash();
    const auto found = x_collections.find(hash);
    if (found != x_collections.end()) {
        x_model.metadata(found->second).replace(metadata);
        return found->second;
    }
    const std::uint64_t number =
        x_model.add_collection("files_" + std::to_string(++x_added), metadata, x_options);
    return x_collections[hash] = number;
}

void ModelFiles::take(const std::vector<Status>& statuses) {
    for (const Status& status : statuses)
        if (status.error && !x_failed) x_failed = status.error;
}

void ModelFiles::fail_if_failed() const {
    if (x_failed) throw Error(*x_failed);
}

}  // namespace tailrace::server
