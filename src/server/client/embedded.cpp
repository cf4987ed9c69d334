// SPDX-License-Identifier: Apache-2.0
#include "server/client/embedded.hpp"

#include <utility>

#include "server/buffer/slab.hpp"

namespace tailrace::server {

namespace {

ClientSetup as_witnessed(ClientSetup setup) {
    setup.servers = 1;
    setup.depth = 0;
    return setup;
}

}  // namespace

Embedded::Embedded(const comm::Comm& model, comm::Channel& channel, const ClientSetup& setup,
                   Files::Published published)
    : x_calls(channel, as_witnessed(setup), 0,
              [this] {
                  if (x_witness) x_witness->move_on();
              }),
      x_files(model, std::move(published)) {
    if (setup.client == 0)
        x_witness.emplace(channel,
                          FrontEndSetup{0, setup.clients, setup.layout_hash, setup.credit_bytes},
                          WriteWork{});
}

std::uint64_t Embedded::add_collection(std::string name, Definition definition) {
    x_collections.push_back({FileSpec::from_bytes(definition.body), {}, {}, 0, {}});
    return x_calls.add_collection(std::move(name), std::move(definition));
}

void Embedded::define(std::uint64_t collection, Definition definition) {
    x_collections[collection].spec = FileSpec::from_bytes(definition.body);
    x_calls.define(collection, std::move(definition));
}

void Embedded::put(std::uint64_t collection, const std::string& file, std::uint64_t field,
                   std::uint64_t record, const core::Box& block, const std::byte* data,
                   const core::MemLayout& memory) {
    Collection& one = x_collections[collection];
    x_calls.put(collection, file, field, record, {}, nullptr);
    if (data == nullptr) return one.held.push_back({field, record, std::nullopt, 0});
    const std::uint64_t element_bytes =
        x_calls.collection(collection).definition.fields[field].element_bytes;
    const std::uint64_t bytes = block.volume() * element_bytes;
    const std::size_t begin = std::exchange(one.used, one.used + bytes);
    if (one.used > one.arena.size()) one.arena.resize(one.used);
    pack(block, memory, element_bytes, data, 0, std::span(one.arena).subspan(begin, bytes));
    one.held.push_back({field, record, block, begin});
}

void Embedded::write_held(std::uint64_t collection) {
    Collection& one = x_collections[collection];
    if (one.held.empty()) return;
    const Client::Collection& about = x_calls.collection(collection);
    static_cast<void>(x_files.of(collection, about.file_seq, about.file, one.spec));
    std::vector<FieldBlock> blocks;
    for (const Held& held : one.held)
        if (held.block)
            blocks.push_back(
                {held.field, held.record, *held.block, one.arena.data() + held.begin, {}});
    x_files.write(collection, blocks);
}

template <class Work>
std::vector<Status> Embedded::together(std::uint64_t collection, std::vector<Status> agreed,
                                       const Work& work) {
    Collection& one = x_collections[collection];
    std::vector<Status> all = std::exchange(one.late, {});
    for (Status& status : agreed) all.push_back(std::move(status));
    if (all.empty() || !all.back().error) {
        try {
            work();
        } catch (const core::Error& error) {
            if (all.empty()) all.emplace_back();
            all.back().error = error;
        }
    }
    one.held.clear();
    one.used = 0;
    if (!x_heard)
        for (const Status& status : all)
            if (status.error && !x_heard) x_heard = status.error;
    return all;
}

std::vector<Status> Embedded::end_step(std::uint64_t collection) {
    return together(collection, x_calls.end_step(collection), [&] { write_held(collection); });
}

void Embedded::end_file(std::uint64_t collection) {
    std::vector<Status> all =
        together(collection, x_calls.close_file(collection), [&] { x_files.publish(collection); });
    x_collections[collection].late = std::move(all);
}

std::vector<Status> Embedded::close_file(std::uint64_t collection) {
    end_file(collection);
    return std::exchange(x_collections[collection].late, {});
}

std::vector<Status> Embedded::flush(std::uint64_t collection) {
    return together(collection, x_calls.flush(collection), [&] { x_files.publish(collection); });
}

std::vector<Status> Embedded::finalize() {
    std::vector<Status> all = x_calls.finalize();
    if (x_witness) x_witness->run();
    return all;
}

}  // namespace tailrace::server
