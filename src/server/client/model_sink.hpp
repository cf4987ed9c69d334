// SPDX-License-Identifier: Apache-2.0
// The files of a model behind the door that all who write go through: a Sink per file, whose pieces
// become puts. Nobody waits in it for a file to be written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "server/client/model.hpp"

namespace tailrace::server {

/// What the Sinks of one model share: files of one content belong to one collection.
class ModelFiles {
public:
    /// @param ranks    of the model; it and `model` outlive this
    /// @param options  of all collections
    /// @param storage  of all variables; chunks stay with the library  [local]
    ModelFiles(const comm::Comm& ranks, Model& model, CollectionOptions options, Storage storage);

    /// A file. In each write() a rank has one piece of an object at most, of one record.
    /// [collective]
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const core::Target& target,
                                                   core::Phases& phases);

private:
    friend class ModelSink;
    friend class PostedClose;
    /// The collection for files of this content.
    std::uint64_t collection_of(const FileMetadata& metadata);
    /// Keeps the first failure.
    void take(const std::vector<Status>& statuses);
    void fail_if_failed() const;

    const comm::Comm& x_ranks;
    Model& x_model;
    CollectionOptions x_options;
    Storage x_storage;
    std::uint64_t x_added = 0;
    std::map<std::uint64_t, std::uint64_t> x_collections;  // by the hash of variables
    std::optional<core::Error> x_failed;
};

/// The content of a file, by name.  [local]
/// @throws core::Error{Code::unsupported} for what metadata of the server do not carry
[[nodiscard]] FileMetadata metadata_of(const core::Schema& schema, const Storage& storage);

}  // namespace tailrace::server
