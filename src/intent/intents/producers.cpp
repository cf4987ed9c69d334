// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "intent/intents/declared.hpp"
#include "intent/intents/derive.hpp"
#include "intent/intents/statements.hpp"

namespace tailrace::intent {

namespace {

bool writes(const Statement& type) {
    return type.value != "read_only" && type.value != "no_data" && type.value != "not known";
}

/// Whether profile `a` did not start after profile `b`, as far as the starts are known.
bool not_after(const Intents& all, std::uint64_t a, std::uint64_t b) {
    const std::string& first = all.profiles[a].start;
    const std::string& second = all.profiles[b].start;
    return first.empty() || second.empty() || first <= second;  // ISO 8601 sorts as text
}

struct Flow {
    std::vector<std::uint64_t> producers, consumers;
};

/// Of an object that stands under `key` in some of the single intents.
template <class T>
Flow flow_of(const std::string& key, const std::vector<Intents>& single,
             const std::map<std::string, T> Intents::*where) {
    Flow flow;
    for (std::uint64_t i = 0; i < single.size(); ++i) {
        const auto found = (single[i].*where).find(key);
        if (found == (single[i].*where).end()) continue;
        if (writes(found->second.type)) flow.producers.push_back(i);
        if (found->second.type.value == "read_only") flow.consumers.push_back(i);
    }
    return flow;
}

Statement statement_of(const Intents& all, const Flow& flow) {
    Reasons why("run");
    bool in_order = false;
    for (const std::uint64_t producer : flow.producers)
        for (const std::uint64_t consumer : flow.consumers)
            in_order = in_order || not_after(all, producer, consumer);
    if (flow.producers.empty() && flow.consumers.size() + flow.producers.size() < 2)
        return Statement{};
    for (const std::uint64_t producer : flow.producers)
        why.note("written_by", all.profiles[producer].path);
    for (const std::uint64_t consumer : flow.consumers)
        why.note("read_by", all.profiles[consumer].path);
    return why.say(in_order ? "yes" : "no", Confidence::high);
}

/// Written by one run and read by others: the types of single runs say less than that.
void set_type(Statement& type, const Flow& flow) {
    type.value = flow.consumers.size() > 1 ? "write_once_read_many" : "read_after_write";
    type.confidence = Confidence::medium;
    type.changes = false;  // the profiles differ because the programs do
}

template <class T>
bool mark(std::map<std::string, T>& objects, const std::map<std::string, T> Intents::*where,
          const Intents& all, const std::vector<Intents>& single) {
    bool any = false;
    for (auto& [key, intent] : objects) {
        const Flow flow = flow_of(key, single, where);
        if (flow.producers.size() + flow.consumers.size() < 2) continue;
        const Statement seen = statement_of(all, flow);
        if (intent.producer_consumer.confidence != Confidence::full)
            intent.producer_consumer = seen;
        for (DeclaredIntent& one : intent.declared)
            if (one.name == "producer_consumer" && !one.contradiction)
                one.contradiction = against(one.name, intent.producer_consumer.value, seen);
        if (seen.value != "yes") continue;
        any = true;
        if (intent.type.confidence == Confidence::full) continue;
        set_type(intent.type, flow);
        intent.mode.value = "read_write";
        intent.mode.changes = false;
    }
    return any;
}

}  // namespace

void find_producers(Intents& intents, const std::vector<Intents>& single) {
    if (single.size() < 2) return;
    const Intents& all = intents;
    const bool files = mark(intents.files, &Intents::files, all, single);
    mark(intents.datasets, &Intents::datasets, all, single);
    std::uint64_t count = 0;
    for (const auto& [path, file] : intents.files)
        count += file.producer_consumer.value == "yes" ? 1 : 0;
    intents.workload.producer_consumer =
        Reasons("run")
            .note("files_written_by_one_and_read_by_another", Count(count), "files")
            .say(files ? "yes" : "no", Confidence::high);
    if (files) {
        intents.workload.type.value = "read_after_write";
        intents.workload.type.changes = false;
    }
}

}  // namespace tailrace::intent
