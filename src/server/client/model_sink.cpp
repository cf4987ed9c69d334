// SPDX-License-Identifier: Apache-2.0
#include "server/client/model_sink.hpp"

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace tailrace::server {

using core::Code;
using core::Error;

namespace {

Element element_of(core::Scalar type, const std::string& path) {
    for (std::uint64_t i = 0; i <= static_cast<std::uint64_t>(Element::real64); ++i)
        if (scalar_of(static_cast<Element>(i)) == type) return static_cast<Element>(i);
    throw Error(Code::unsupported,
                "the server has no elements of type " + std::string(core::name(type)), path,
                "use i8, i16, i32, i64, f32 or f64");
}

std::string name_of(const std::string& path) {
    if (path.find('/', 1) != std::string::npos)
        throw Error(Code::unsupported, "the server has no groups", path, "use a name without /");
    return path.substr(1);
}

AttributeValue attribute_value(const core::Attribute& attribute) {
    const auto number = []<class T>(const T& held) -> AttributeValue {
        if constexpr (std::is_same_v<T, std::string>)
            return held;
        else if constexpr (std::is_floating_point_v<T>)
            return std::vector<double>{held};
        else
            return std::vector{static_cast<std::int64_t>(held)};
    };
    const auto list = []<class T>(const std::vector<T>& held) -> AttributeValue {
        if constexpr (std::is_same_v<T, std::string>) {
            std::string text;
            for (const std::string& one : held) text += (text.empty() ? "" : " ") + one;
            return text;
        } else if constexpr (std::is_floating_point_v<T>) {
            return std::vector<double>(held.begin(), held.end());
        } else {
            return std::vector<std::int64_t>(held.begin(), held.end());
        }
    };
    if (const auto* one = std::get_if<core::AttributeScalar>(&attribute.value))
        return std::visit(number, *one);
    if (const auto* all = std::get_if<core::AttributeArray>(&attribute.value))
        return std::visit(list, *all);
    throw Error(Code::unsupported, "the server has no compound attributes", attribute.name,
                "leave it out, or write its members one by one");
}

FileMetadata metadata_of(const core::Schema& schema, const Storage& storage) {
    FileMetadata all;
    std::map<std::string, std::uint64_t> dimensions;
    for (const core::Object& object : schema.objects) {
        Variable one;
        one.name = name_of(object.path);
        one.type = element_of(object.type, object.path);
        for (std::size_t d = 0; d < object.dims.size(); ++d) {
            const bool unlimited = object.dims[d].unlimited;
            const std::uint64_t size = unlimited ? 0 : object.dims[d].size;
            std::string name = d < object.axes.size() ? object.axes[d] : "";
            if (name.empty()) name = one.name + "_dim_" + std::to_string(d + 1);
            if (dimensions.emplace(name, size).second) all.add_dimension(name, size);
            one.dimensions.push_back(name);
        }
        if (object.fill.set) one.fill = object.fill.value;
        if (one.dimensions.size() > 1) one.storage = storage;
        all.add(one);
    }
    for (const core::Attribute& attribute : schema.attributes)
        all.set_attribute(attribute.object == "/" ? "" : name_of(attribute.object),
                          {attribute.name, attribute_value(attribute)});
    return all;
}

class ModelSink final : public core::Sink {
public:
    ModelSink(Model& model, const comm::Comm& comm, Series& series, const core::Target& target,
              core::Phases& phases)
        : x_model(model), x_comm(comm), x_series(series), x_phases(phases) {
        x_report.path = target.path;
        x_can.records = true;
        x_can.async = true;
        x_series.options.existing = target.existing;
    }

    [[nodiscard]] const core::Capabilities& can() const noexcept override { return x_can; }

    std::vector<core::ObjectId> define(const core::Schema& schema) override {
        const auto phase = x_phases.enter("define");
        if (!x_objects.empty())
            throw Error(Code::unsupported, "objects are defined in a later step",
                        x_report.path.string(), "define all objects at once");
        x_objects = schema.objects;
        const FileMetadata metadata = metadata_of(schema, x_series.storage);
        if (x_series.collection)
            x_model.metadata(*x_series.collection).replace(metadata);
        else
            x_series.collection =
                x_model.add_collection(x_series.name, metadata, x_series.options, true);
        std::vector<core::ObjectId> ids;
        for (core::ObjectId id = 0; id < x_objects.size(); ++id) ids.push_back(id);
        return ids;
    }

    void write(std::span<const core::Write> pieces) override {
        const auto phase = x_phases.enter("write");
        for (const core::Write& piece : pieces) {
            const core::Object& object = x_objects[piece.object];
            LocalBlock block{piece.place, piece.data, false, piece.memory};
            std::optional<std::uint64_t> record;
            if (piece.place.empty()) block.data = nullptr;
            if (!object.dims.empty() && object.dims[0].unlimited) {
                record = block.box.offset.front();
                block.box.offset.erase(block.box.offset.begin());
                block.box.count.erase(block.box.count.begin());
            }
            x_model.put(*x_series.collection, x_report.path.string(), name_of(object.path),
                        piece.type, block, record);
            if (block.data != nullptr)
                x_report.bytes_logical += piece.place.volume() * core::size_of(piece.type);
        }
    }

    void complete(core::Step) override {
        const auto phase = x_phases.enter("write");
        look(x_model.end_step(*x_series.collection), x_series);
    }

    core::Ticket sync(core::Durability) override { return {}; }

    core::Pending<core::FileReport> post_close(core::Outcome outcome) override {
        const auto phase = x_phases.enter("close");
        x_closed = true;
        if (outcome == core::Outcome::discard) {
            discard();
            return core::Pending<core::FileReport>::done(core::FileReport{});
        }
        x_model.end_file(*x_series.collection);
        return core::Pending<core::FileReport>(std::make_unique<Closing>(
            x_model, x_comm, x_phases, x_series,
            x_series.options.durability == core::Durability::durable, x_report));
    }

    ~ModelSink() override {
        if (!x_closed) discard();
    }

private:
    /// Until the last status of the collection is there.
    class Closing final : public core::Pending<core::FileReport>::State {
    public:
        Closing(Model& model, const comm::Comm& comm, core::Phases& phases, Series& series,
                bool durable, core::FileReport report)
            : x_model(model),
              x_comm(comm),
              x_phases(phases),
              x_series(series),
              x_durable(durable),
              x_report(std::move(report)) {}
        core::FileReport wait() override {
            const auto phase = x_phases.enter("close");
            look(x_model.flush(*x_series.collection), x_series);
            x_report.bytes_logical = x_comm.sum(x_report.bytes_logical);
            x_report.parts = {x_report.path.string()};
            std::error_code none;
            const auto size = std::filesystem::file_size(x_report.path, none);
            x_report.bytes_stored = x_comm.broadcast_value(none ? 0 : std::uint64_t{size});
            x_report.durable = x_durable;
            x_report.data_mode = "by the server";
            return x_report;
        }

    private:
        Model& x_model;
        const comm::Comm& x_comm;
        core::Phases& x_phases;
        Series& x_series;
        bool x_durable;
        core::FileReport x_report;
    };

    static void look(const std::vector<Status>& statuses, Series& series) {
        for (const Status& one : statuses)
            if (one.figures) series.heard.push_back(*one.figures);
        for (const Status& one : statuses)
            if (one.error) throw core::Error(*one.error);
    }

    /// The others are in it too: a failure is the same on all ranks.
    void discard() noexcept {
        try {
            if (!x_series.collection) return;
            x_model.end_file(*x_series.collection, core::Outcome::discard);
            static_cast<void>(x_model.flush(*x_series.collection));
        } catch (...) {  // it is lost already
        }
    }

    Model& x_model;
    const comm::Comm& x_comm;
    Series& x_series;
    core::Phases& x_phases;
    core::Capabilities x_can;
    core::FileReport x_report;
    std::vector<core::Object> x_objects;
    bool x_closed = false;
};

}  // namespace

std::unique_ptr<core::Sink> model_sink(Model& model, const comm::Comm& comm, Series& series,
                                       const core::Target& target, core::Phases& phases) {
    return std::make_unique<ModelSink>(model, comm, series, target, phases);
}

}  // namespace tailrace::server
