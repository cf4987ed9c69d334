// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "intent/intents/access.hpp"
#include "intent/intents/declared.hpp"
#include "intent/intents/derive.hpp"
#include "intent/intents/statements.hpp"
#include "intent/intents/transfers.hpp"

namespace tailrace::intent {

namespace {

bool writes(const Statement& type) {
    return type.value != "read_only" && type.value != "no_data" && type.value != "not known";
}

/// Whether what was read was there before: one that updates a file in place is both.
bool reads_first(const Statement& type) {
    return type.value == "read_only" || type.value == "read_before_write";
}

/// Whether profile `a` did not start after profile `b`, as far as the starts are known.
bool not_after(const Intents& all, std::uint64_t a, std::uint64_t b) {
    const std::string& first = all.profiles[a].start;
    const std::string& second = all.profiles[b].start;
    return first.empty() || second.empty() || first <= second;  // ISO 8601 sorts as text
}

using Numbers = std::vector<std::uint64_t>;  ///< of profiles

struct Sides {
    Numbers producers, consumers;
};

/// Of an object that stands under `key` in some of the single intents.
template <class T>
Sides sides_of(const std::string& key, const std::vector<Intents>& single,
               const std::map<std::string, T> Intents::*where) {
    Sides flow;
    for (std::uint64_t i = 0; i < single.size(); ++i) {
        const auto found = (single[i].*where).find(key);
        if (found == (single[i].*where).end()) continue;
        if (writes(found->second.type)) flow.producers.push_back(i);
        if (reads_first(found->second.type)) flow.consumers.push_back(i);
    }
    return flow;
}

std::size_t runs_of(const Sides& flow) {
    std::set<std::uint64_t> all(flow.producers.begin(), flow.producers.end());
    all.insert(flow.consumers.begin(), flow.consumers.end());
    return all.size();
}

Statement statement_of(const Intents& all, const Sides& flow) {
    Reasons why("run");
    bool in_order = false;
    for (const std::uint64_t producer : flow.producers)
        for (const std::uint64_t consumer : flow.consumers)
            in_order = in_order || (producer != consumer && not_after(all, producer, consumer));
    if (flow.producers.empty() && flow.consumers.size() + flow.producers.size() < 2)
        return Statement{};
    for (const std::uint64_t producer : flow.producers)
        why.note("written_by", all.profiles[producer].path);
    for (const std::uint64_t consumer : flow.consumers)
        why.note("read_by", all.profiles[consumer].path);
    return why.say(in_order ? "yes" : "no", Confidence::high);
}

/// Written by one run and read by others: the types of single runs say less than that.
/// @param many  what one of them reads is twice the object and more
void set_type(Statement& type, const Sides& flow, bool many) {
    const auto in = [](const Numbers& all) {
        return [&all](std::uint64_t one) { return std::ranges::find(all, one) != all.end(); };
    };
    const bool once = flow.producers.size() == 1 && !in(flow.consumers)(flow.producers.front());
    // Runs that all update it are what each of them is.
    if (std::ranges::all_of(flow.producers, in(flow.consumers)) &&
        std::ranges::all_of(flow.consumers, in(flow.producers)))
        return;
    const bool readers = many || flow.consumers.size() > 1;
    type.value = once && readers ? "write_once_read_many" : "read_after_write";
    type.confidence = Confidence::medium;
    type.changes = false;  // the profiles differ because the programs do
}

/// What is moved where all of it is; filters and holes store less.
std::uint64_t whole(const DatasetIntent& intent) { return intent.fs_size->bytes; }
std::uint64_t whole(const FileIntent& intent) {
    return std::max(intent.fs_size->bytes, intent.ds_size_dist.sum_bytes);
}

/// Written at most once, and read twice and more, as far as bytes and a known size tell.
template <class T>
bool read_many_times(const T& intent) {
    if (!intent.fs_size || intent.fs_size->at_least.value_or(false)) return false;
    const std::uint64_t size = whole(intent);
    return size > 0 && intent.volume.bytes_written.value_or(0) <= size &&
           intent.volume.bytes_read.value_or(0) / size >= 2;
}

void set_layer_types(DatasetIntent&, const Sides&, bool) {}

void set_layer_types(FileIntent& intent, const Sides& flow, bool many) {
    for (auto& [name, layer] : intent.layers)
        if (layer.type.changes) set_type(layer.type, flow, many);
}

/// Order of the places where the transfers of both are looked at: who makes one only says nothing.
std::string order_of_both(const std::string& a, const std::string& b) {
    if (a == b || b == "not known" || b == "one_transfer") return a;
    return a == "not known" || a == "one_transfer" ? b : "mixed";
}

/// Marks shapes as those of reads or of writes, where their program makes only such.
std::vector<Segment> directed(std::vector<Segment> segments, const std::string& type) {
    for (Segment& segment : segments) {
        if (type == "read_only") segment.direction = "read";
        if (type == "write_only") segment.direction = "write";
    }
    return segments;
}

/// What a layer of one run says is put to that of another; times are those of the run itself.
void add_numbers(Volume& volume, Session& session, std::vector<TransferSize>& sizes,
                 const Volume& other, const Session& theirs,
                 const std::vector<TransferSize>& their_sizes) {
    add(volume, other);
    if (!session.read_timestamp) session.read_timestamp = theirs.read_timestamp;
    if (!session.write_timestamp) session.write_timestamp = theirs.write_timestamp;
    add(sizes, their_sizes);
}

void add_layers(DatasetIntent&, const DatasetIntent&, const DatasetIntent&) {}

void add_layers(FileIntent& to, const FileIntent& from, const FileIntent& base) {
    for (const auto& [name, theirs] : from.layers) {
        if (base.layers.count(name) == 0) continue;  // it stands there with its numbers
        LayerIntent& mine = to.layers.at(name);
        add_numbers(mine.volume, mine.session_io, mine.transfer_size_dist, theirs.volume,
                    theirs.session_io, theirs.transfer_size_dist);
        if (mine.read_sizes.empty()) mine.read_sizes = theirs.read_sizes;
        if (mine.write_sizes.empty()) mine.write_sizes = theirs.write_sizes;
    }
}

template <class T>
void add_numbers(T& to, const T& from, const T& base) {
    add_numbers(to.volume, to.session_io, to.transfer_size_dist, from.volume, from.session_io,
                from.transfer_size_dist);
    add(to.top_accessed_segments, directed(from.top_accessed_segments, from.type.value));
    if (to.order.confidence != Confidence::full)
        to.order.value = order_of_both(to.order.value, from.order.value);
    add_layers(to, from, base);
}

/// The numbers of an object so far are those of the largest run that has it: those of the largest
/// producer and of the largest consumer come to it.
template <class T>
void take_both_sides(T& intent, const std::string& key, const Sides& flow,
                     const std::vector<Intents>& single, const Numbers& largest_first,
                     const std::map<std::string, T> Intents::*where) {
    const T* base = nullptr;
    bool written = false, read = false;
    for (const std::uint64_t number : largest_first) {
        const auto found = (single[number].*where).find(key);
        if (found == (single[number].*where).end()) continue;
        const auto in = [number](const std::vector<std::uint64_t>& list) {
            return std::find(list.begin(), list.end(), number) != list.end();
        };
        const bool wanted = (in(flow.producers) && !written) || (in(flow.consumers) && !read);
        written = written || in(flow.producers);
        read = read || in(flow.consumers);
        if (!base) {
            base = &found->second;
            intent.top_accessed_segments =
                directed(std::move(intent.top_accessed_segments), base->type.value);
        } else if (wanted) {
            add_numbers(intent, found->second, *base);
        }
    }
}

template <class T>
bool mark(std::map<std::string, T>& objects, const std::map<std::string, T> Intents::*where,
          const Intents& all, const std::vector<Intents>& single, const Numbers& largest_first) {
    bool any = false;
    for (auto& [key, intent] : objects) {
        const Sides flow = sides_of(key, single, where);
        if (runs_of(flow) < 2) continue;
        const Statement seen = statement_of(all, flow);
        if (intent.producer_consumer.confidence != Confidence::full)
            intent.producer_consumer = seen;
        for (DeclaredIntent& one : intent.declared)
            if (one.name == "producer_consumer" && !one.contradiction)
                one.contradiction = against(one.name, intent.producer_consumer.value, seen);
        if (seen.value != "yes") continue;
        any = true;
        take_both_sides(intent, key, flow, single, largest_first, where);
        if (intent.type.confidence == Confidence::full) continue;
        const bool many = read_many_times(intent);
        set_type(intent.type, flow, many);
        set_layer_types(intent, flow, many);
        intent.mode.value = "read_write";
        intent.mode.changes = false;
    }
    return any;
}

/// Datasets by type, of files whose datasets have another one than in each run by itself.
void count_types(Intents& intents) {
    for (auto& [path, file] : intents.files)
        if (file.producer_consumer.value == "yes") file.ap_distribution.clear();
    for (const auto& [key, dataset] : intents.datasets) {
        FileIntent& file = intents.files.at(dataset.filename);
        if (file.producer_consumer.value == "yes") ++file.ap_distribution[dataset.type.value];
    }
}

}  // namespace

void find_producers(Intents& intents, const std::vector<Intents>& single) {
    if (single.size() < 2) return;
    const Intents& all = intents;
    const Numbers numbers = largest_first(single);
    const bool files = mark(intents.files, &Intents::files, all, single, numbers);
    mark(intents.datasets, &Intents::datasets, all, single, numbers);
    count_types(intents);
    std::uint64_t count = 0;
    std::set<std::string> types;
    for (const auto& [path, file] : intents.files) {
        if (file.producer_consumer.value != "yes") continue;
        ++count;
        types.insert(file.type.value);
    }
    intents.workload.producer_consumer =
        Reasons("run")
            .note("files_written_by_one_and_read_by_another", Count(count), "files")
            .say(files ? "yes" : "no", Confidence::high);
    if (files) {
        intents.workload.type.value = types.size() == 1 ? *types.begin() : "read_after_write";
        intents.workload.type.confidence = Confidence::medium;  // as of these files
        intents.workload.type.changes = false;
    }
}

}  // namespace tailrace::intent
