// SPDX-License-Identifier: Apache-2.0
#include "kernels/history/collections.hpp"

#include <iterator>
#include <optional>
#include <utility>

namespace tailrace::kernels::history {

namespace {

/// Which collection an object of the run belongs to, and what it is called there.
std::pair<std::size_t, std::string> place_of(const std::string& path) {
    const std::size_t end = path.find('/', 1);
    const std::string rest = end == std::string::npos ? "/" : path.substr(end);
    return {std::stoull(path.substr(1, end - 1)) - 1, rest};
}

/// Where the objects of the run are: collection, and number there.
using Places = std::vector<std::pair<std::size_t, core::ObjectId>>;

/// The pieces of each collection; all of them hear of each call.
template <class Piece>
std::vector<std::vector<Piece>> dealt(std::span<const Piece> pieces, const Places& places,
                                      std::size_t collections) {
    std::vector<std::vector<Piece>> all(collections);
    for (Piece piece : pieces) {
        const auto [collection, number] = places.at(piece.object);
        piece.object = number;
        all[collection].push_back(piece);
    }
    return all;
}

std::vector<core::Schema> dealt(const core::Schema& schema, std::size_t collections) {
    std::vector<core::Schema> all(collections);
    for (core::Object object : schema.objects) {
        auto [collection, path] = place_of(object.path);
        object.path = std::move(path);
        all[collection].objects.push_back(std::move(object));
    }
    for (core::Attribute attribute : schema.attributes) {
        auto [collection, path] = place_of(attribute.object);
        attribute.object = std::move(path);
        all[collection].attributes.push_back(std::move(attribute));
    }
    return all;
}

/// All are waited for, also after one has failed.
class AllClosed final : public core::Pending<core::FileReport>::State {
public:
    explicit AllClosed(std::vector<core::Pending<core::FileReport>> all) : x_all(std::move(all)) {}
    core::FileReport wait() override {
        core::FileReport report;
        std::optional<core::Error> failed;
        for (auto& one : x_all) {
            try {
                report.join(one.wait());
            } catch (const core::Error& error) {
                if (!failed) failed = error;
            }
        }
        if (failed) throw core::Error(*failed);
        return report;
    }

private:
    std::vector<core::Pending<core::FileReport>> x_all;
};

class Together final : public core::Sink {
public:
    explicit Together(std::vector<std::unique_ptr<core::Sink>> sinks) : x_sinks(std::move(sinks)) {}
    [[nodiscard]] const core::Capabilities& can() const noexcept override {
        return x_sinks.front()->can();
    }
    std::vector<core::ObjectId> define(const core::Schema& schema) override {
        const std::vector<core::Schema> parts = dealt(schema, x_sinks.size());
        std::vector<std::vector<core::ObjectId>> numbers;
        for (std::size_t i = 0; i < parts.size(); ++i)
            numbers.push_back(x_sinks[i]->define(parts[i]));
        std::vector<std::size_t> next(x_sinks.size());
        std::vector<core::ObjectId> ids;
        for (const core::Object& object : schema.objects) {
            const std::size_t collection = place_of(object.path).first;
            ids.push_back(static_cast<core::ObjectId>(x_places.size()));
            x_places.emplace_back(collection, numbers[collection][next[collection]++]);
        }
        return ids;
    }
    void write(std::span<const core::Write> pieces) override {
        const auto parts = dealt(pieces, x_places, x_sinks.size());
        for (std::size_t i = 0; i < parts.size(); ++i) x_sinks[i]->write(parts[i]);
    }
    void complete(core::Step step) override {
        for (const auto& sink : x_sinks) sink->complete(step);
    }
    core::Ticket sync(core::Durability durability) override {
        for (const auto& sink : x_sinks) sink->sync(durability).wait();
        return {};
    }
    core::Pending<core::FileReport> post_close(core::Outcome outcome) override {
        std::vector<core::Pending<core::FileReport>> posted;
        for (const auto& sink : x_sinks) posted.push_back(sink->post_close(outcome));
        return core::Pending<core::FileReport>(std::make_unique<AllClosed>(std::move(posted)));
    }

private:
    std::vector<std::unique_ptr<core::Sink>> x_sinks;
    Places x_places;
};

class ReadTogether final : public core::Source {
public:
    explicit ReadTogether(std::vector<std::unique_ptr<core::Source>> sources)
        : x_sources(std::move(sources)) {}
    core::Schema schema() override {
        core::Schema all;
        x_places.clear();
        for (std::size_t i = 0; i < x_sources.size(); ++i) {
            core::Schema one = x_sources[i]->schema();
            for (std::size_t number = 0; number < one.objects.size(); ++number) {
                core::Object& object = one.objects[number];
                object.path = prefix_of(i + 1, x_sources.size()) + object.path;
                x_places.emplace_back(i, static_cast<core::ObjectId>(number));
                all.objects.push_back(std::move(object));
            }
        }
        return all;
    }
    void read(std::span<core::Read> pieces) override {
        auto parts = dealt(std::span<const core::Read>(pieces), x_places, x_sources.size());
        for (std::size_t i = 0; i < parts.size(); ++i) x_sources[i]->read(parts[i]);
    }

private:
    std::vector<std::unique_ptr<core::Source>> x_sources;
    Places x_places;
};

class OpenTogether final : public runner::Opener {
public:
    OpenTogether(std::vector<std::unique_ptr<Opener>> openers, Beside beside)
        : x_openers(std::move(openers)), x_beside(std::move(beside)) {}
    [[nodiscard]] std::string name() const override { return x_openers.front()->name(); }
    void check_schema(const core::Schema& schema) const override {
        const std::vector<core::Schema> parts = dealt(schema, x_openers.size());
        for (std::size_t i = 0; i < parts.size(); ++i) x_openers[i]->check_schema(parts[i]);
    }
    void check(const comm::Comm& comm, const core::Target& target, int ranks) const override {
        for (std::size_t i = 0; i < x_openers.size(); ++i)
            x_openers[i]->check(comm, part_of(target, i), ranks);
    }
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const comm::Comm& comm,
                                                   const core::Target& target,
                                                   core::Phases& phases) const override {
        std::vector<std::unique_ptr<core::Sink>> sinks;
        for (std::size_t i = 0; i < x_openers.size(); ++i)
            sinks.push_back(x_openers[i]->sink(comm, part_of(target, i), phases));
        return std::make_unique<Together>(std::move(sinks));
    }
    [[nodiscard]] std::unique_ptr<core::Source> source(const comm::Comm& comm,
                                                       const std::filesystem::path& path,
                                                       core::Phases& phases) const override {
        std::vector<std::unique_ptr<core::Source>> sources;
        for (std::size_t i = 0; i < x_openers.size(); ++i)
            sources.push_back(x_openers[i]->source(comm, x_beside(path, i), phases));
        return std::make_unique<ReadTogether>(std::move(sources));
    }

private:
    [[nodiscard]] core::Target part_of(core::Target target, std::size_t collection) const {
        target.path = x_beside(target.path, collection);
        target.reserve_bytes /= x_openers.size();
        return target;
    }

    std::vector<std::unique_ptr<Opener>> x_openers;
    Beside x_beside;
};

}  // namespace

std::string prefix_of(std::uint64_t collection, std::uint64_t collections) {
    return collections == 1 ? "" : "/" + std::to_string(collection);
}

std::unique_ptr<runner::Opener> together(std::vector<std::unique_ptr<runner::Opener>> openers,
                                         Beside beside) {
    if (openers.size() == 1) return std::move(openers.front());
    return std::make_unique<OpenTogether>(std::move(openers), std::move(beside));
}

}  // namespace tailrace::kernels::history
