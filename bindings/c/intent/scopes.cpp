// SPDX-License-Identifier: Apache-2.0
#include "scopes.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace tailrace::declaring {

namespace {

using intent::declare::Document;
using intent::declare::OfFile;

struct Scope {
    std::uint64_t token;
    Document document;
};

struct Scopes {
    std::mutex mutex;
    std::vector<Scope> all;
    std::uint64_t last = 0;
};

/// Never destroyed: files may be opened while a program ends.
Scopes& scopes() {
    static auto* const kept = new Scopes;
    return *kept;
}

/// A fork finds the mutex unlocked, whichever thread forks.
void watch_forks() {
    static const int registered =
        pthread_atfork([] { scopes().mutex.lock(); }, [] { scopes().mutex.unlock(); },
                       [] { scopes().mutex.unlock(); });
    (void)registered;
}

}  // namespace

std::uint64_t push(Document document) {
    watch_forks();
    Scopes& of = scopes();
    const std::scoped_lock lock(of.mutex);
    if (of.all.size() >= most_scopes)
        throw core::Error(core::Code::bad_input,
                          std::to_string(most_scopes) + " declarations by pattern hold already",
                          "tailrace_intent_push", "take some back with tailrace_intent_pop");
    of.all.push_back({++of.last, std::move(document)});
    return of.last;
}

bool pop(std::uint64_t token) {
    Scopes& of = scopes();
    const std::scoped_lock lock(of.mutex);
    return std::erase_if(of.all, [&](const Scope& one) { return one.token == token; }) > 0;
}

std::string declared_of(const intent::declare::Names& names) {
    Scopes& of = scopes();
    const std::scoped_lock lock(of.mutex);
    OfFile merged;
    for (const Scope& one : of.all) {
        OfFile here = resolve(one.document, names);
        for (auto& [name, value] : here.values) merged.values[name] = value;
        merged.datasets.insert(merged.datasets.begin(), here.datasets.begin(), here.datasets.end());
    }
    if (merged.values.empty() && merged.datasets.empty()) return {};
    return list_text(merged);
}

}  // namespace tailrace::declaring
