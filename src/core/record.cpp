// SPDX-License-Identifier: Apache-2.0
#include "core/record.hpp"

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

namespace tailrace::core {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <class T>
Json object(const std::map<std::string, T>& values) {
    Json json = Json::object();
    for (const auto& [key, value] : values) json[key] = value;
    return json;
}

Json spread(const Spread& values) {
    return {{"min", values.min}, {"mean", values.mean}, {"max", values.max}};
}

Json error(const std::optional<Error>& failure) {
    if (!failure) return nullptr;
    return {{"code", name(failure->code())},
            {"message", failure->message()},
            {"where", failure->where()},
            {"remedy", failure->remedy()},
            {"exit_code", exit_code(failure->code())},
            {"rank", failure->rank()},
            {"failed_ranks", failure->failed_ranks()},
            {"total_ranks", failure->total_ranks()}};
}

Json context(const Context& here) {
    return {{"host", here.host},
            {"os_kernel", here.os_kernel},
            {"cores", here.cores},
            {"load_1m", here.load_1m},
            {"memory_bytes", here.memory.total_bytes},
            {"memory_available_bytes", here.memory.available_bytes},
            {"page_cache_bytes", here.memory.page_cache_bytes},
            {"dirty_bytes", here.memory.dirty_bytes},
            {"file_system", here.file_system.type},
            {"mount_point", here.file_system.mount_point},
            {"mount_options", here.file_system.mount_options},
            {"file_system_source", here.file_system.source},
            {"file_system_free_bytes", here.file_system.free_bytes},
            {"file_system_total_bytes", here.file_system.total_bytes},
            {"striping", object(here.striping)},
            {"mpi_library", here.mpi_library},
            {"mpi_io", here.mpi_io},
            {"hdf5_version", here.hdf5_version},
            {"compiler", here.compiler},
            {"tailrace_version", here.tailrace_version},
            {"commit", here.commit},
            {"ranks", here.ranks},
            {"nodes", here.nodes},
            {"ranks_per_node", here.ranks_per_node},
            {"command", here.command},
            {"environment", object(here.environment)}};
}

struct ValueToJson {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const std::map<std::string, std::string>& value) const { return object(value); }
    Json operator()(double value) const { return number_or_null(value); }
    template <class T>
    Json operator()(const T& value) const {
        return value;
    }
};

Json configuration(const std::map<std::string, ConfigurationValue>& values) {
    Json json = Json::object();
    for (const auto& [key, value] : values) json[key] = std::visit(ValueToJson{}, value);
    return json;
}

Json phases(const std::map<std::string, PhaseRecord>& all) {
    Json json = Json::object();
    for (const auto& [name, phase] : all)
        json[name] = {{"min_s", phase.elapsed_s.min},
                      {"mean_s", phase.elapsed_s.mean},
                      {"max_s", phase.elapsed_s.max},
                      {"path_s", or_null(phase.path_s)},
                      {"entries", phase.entries}};
    return json;
}

Json steps(const std::vector<StepRecord>& all) {
    Json json = Json::array();
    for (const StepRecord& step : all) {
        Json one{{"step", step.step}};
        if (step.count != 1) one["steps"] = step.count;
        one["write_s"] = spread(step.write_s);
        if (step.sync_s) one["sync_s"] = spread(*step.sync_s);
        if (step.compute_s) one["compute_s"] = spread(*step.compute_s);
        json.push_back(one);
    }
    return json;
}

Json rate(std::uint64_t bytes, double seconds, bool valid = true) {
    return valid && seconds > 0 ? Json(static_cast<double>(bytes) / seconds) : Json(nullptr);
}

Json bytes(const std::optional<BytesRecord>& known) {
    const auto value = [&](std::uint64_t BytesRecord::*which) {
        return known ? Json((*known).*which) : Json(nullptr);
    };
    return {{"logical", value(&BytesRecord::logical)},
            {"stored", value(&BytesRecord::stored)},
            {"allocated", value(&BytesRecord::allocated)}};
}

Json elapsed(const std::optional<ElapsedRecord>& known) {
    const auto value = [&](double ElapsedRecord::*which) {
        return known ? Json((*known).*which) : Json(nullptr);
    };
    return {{"durable_s", value(&ElapsedRecord::durable_s)},
            {"write_s", value(&ElapsedRecord::write_s)},
            {"aggregate_s", value(&ElapsedRecord::aggregate_s)}};
}

Json rates(const Record& record) {
    const bool valid = !record.error && record.bytes && record.elapsed;
    const std::uint64_t bytes = record.bytes.value_or(BytesRecord{}).logical;
    const ElapsedRecord elapsed = record.elapsed.value_or(ElapsedRecord{});
    return {{"write_bytes_per_s", rate(bytes, elapsed.write_s, valid)},
            {"aggregate_bytes_per_s", rate(bytes, elapsed.aggregate_s, valid)},
            {"durable_bytes_per_s", rate(bytes, elapsed.durable_s, valid)}};
}

Json transfers(const TransfersRecord& how) {
    return {{"collective_requested", how.collective_requested},
            {"collective_actual", or_null(how.collective_actual)},
            {"mode", how.mode},
            {"no_collective_cause", how.no_collective_cause},
            {"metadata_collective_requested", how.metadata_collective_requested},
            {"metadata_collective_actual", or_null(how.metadata_collective_actual)},
            {"metadata_evidence", how.metadata_evidence}};
}

Json by_size(const CallTally& tally) {
    Json json = Json::object();
    for (std::size_t k = 0; k < CallTally::size_classes; ++k)
        if (tally.by_size[k] > 0) json[std::to_string(std::uint64_t{1} << k)] = tally.by_size[k];
    return json;
}

Json writer(const WriterReport& one) {
    const CallTally& calls = one.total.write;
    Json by_phase = Json::object();
    for (const auto& [phase, tally] : one.by_phase)
        if (tally.write.calls > 0)
            by_phase[phase] = {{"calls", tally.write.calls},
                               {"bytes_asked", tally.write.bytes_asked},
                               {"bytes_done", tally.write.bytes_done},
                               {"read_calls", tally.read.calls},
                               {"read_bytes", tally.read.bytes_done}};
    return {{"rank", one.rank},
            {"bytes_given", or_null(one.bytes_given)},
            {"calls", calls.calls},
            {"bytes_asked", calls.bytes_asked},
            {"bytes_done", calls.bytes_done},
            {"failed_calls", calls.failed_calls},
            {"short_calls", calls.short_calls},
            {"smallest_bytes", calls.smallest},
            {"largest_bytes", calls.largest},
            {"by_size", by_size(calls)},
            {"by_call",
             {{"write", one.total.by_write},
              {"pwrite", one.total.by_pwrite},
              {"writev", one.total.by_writev},
              {"aio", one.total.by_aio},
              {"uring", one.total.by_uring}}},
            {"by_phase", by_phase}};
}

Json writers(const Record& record) {
    Json list = Json::array();
    for (const WriterReport& one : record.writers) list.push_back(writer(one));
    return {{"measured", record.writers_measured},
            {"ranks_that_wrote",
             record.writers_measured ? Json(ranks_that_wrote(record.writers)) : Json(nullptr)},
            {"list", list}};
}

Json file(const FileRecord& one) {
    Json json{{"path", one.path},
              {"parts", one.parts},
              {"settings", object(one.settings)},
              {"durable", one.durable}};
    if (!one.content_hashes.empty()) json["content_hashes"] = object(one.content_hashes);
    return json;
}

Json measured(std::uint64_t bytes) { return bytes > 0 ? Json(bytes) : Json(nullptr); }

Json memory(const MemoryRecord& of) {
    const Json above = of.peak_bytes_max > 0 ? Json(of.peak_above_init_bytes_max) : Json(nullptr);
    return {{"after_init_bytes_max", measured(of.after_init_bytes_max)},
            {"peak_bytes_max", measured(of.peak_bytes_max)},
            {"peak_above_init_bytes_max", above},
            {"data_bytes_max", measured(of.data_bytes_max)}};
}

Json verification(const VerificationRecord& verdict) {
    static constexpr std::array<const char*, 3> status{"not_run", "passed", "failed"};
    const bool ran = verdict.status != VerificationStatus::not_run;
    Json first = Json::array();
    for (const WrongElement& one : verdict.first)
        if (first.size() < 10)
            first.push_back({{"object", one.object},
                             {"index", one.index},
                             {"expected", number_or_null(one.expected)},
                             {"found", number_or_null(one.found)}});
    return {{"status", status[static_cast<std::size_t>(verdict.status)]},
            {"elements", ran ? Json(verdict.elements) : Json(nullptr)},
            {"wrong", ran ? Json(verdict.wrong) : Json(nullptr)},
            {"first", first}};
}

Json read_back(const std::optional<ReadBackRecord>& read) {
    if (!read) return nullptr;
    return {{"decomposition", read->decomposition},
            {"bytes", read->bytes},
            {"elapsed_s", read->elapsed_s},
            {"rate_bytes_per_s", rate(read->bytes, read->elapsed_s)},
            {"cache", read->cache.empty() ? "unknown" : read->cache}};
}

double seconds(const ElapsedRecord& elapsed, LimitArm::Against against) {
    switch (against) {
        case LimitArm::Against::aggregate:
            return elapsed.aggregate_s;
        case LimitArm::Against::write:
            return elapsed.write_s;
        case LimitArm::Against::durable:
            break;
    }
    return elapsed.durable_s;
}

Json limit(const Record& record) {
    if (!record.limit) return nullptr;
    Json arms = Json::object();
    for (const LimitArm& arm : record.limit->arms)
        arms[arm.name] = {{"bytes", arm.bytes},
                          {"elapsed_s", arm.error ? Json(nullptr) : Json(arm.elapsed_s)},
                          {"rate_bytes_per_s", rate(arm.bytes, arm.elapsed_s, !arm.error)},
                          {"against", name(arm.against)},
                          {"ratio", or_null(limit_ratio(record, arm))},
                          {"error", error(arm.error)}};
    return {{"order", record.limit->order}, {"arms", arms}};
}

Json reads(const Record& record) {
    Json list = Json::array();
    for (const ReadRecord& one : record.reads)
        list.push_back({{"pattern", one.pattern},
                        {"bytes", one.bytes},
                        {"requests", one.requests},
                        {"open_s", one.open_s},
                        {"elapsed_s", one.elapsed_s},
                        {"rate_bytes_per_s", rate(one.bytes, one.elapsed_s, true)},
                        {"cache", one.cache},
                        {"cache_evidence", one.cache_evidence},
                        {"elements", one.elements},
                        {"wrong", one.wrong}});
    return list;
}

/// A time to the nanosecond: shorter than with all its digits.
double in_ns(double seconds) { return std::round(seconds * 1e9) / 1e9; }

Json time_line(const RankLine& line) {
    Json stretches = Json::array();
    for (const Stretch& one : line.stretches) {
        stretches.push_back({one.phase, in_ns(one.start_s), in_ns(one.end_s)});
        if (one.joined > 1) stretches.back().push_back(one.joined);
    }
    return {
        {"rank", line.rank}, {"resolution_s", in_ns(line.resolution_s)}, {"stretches", stretches}};
}

Json time_lines(const std::optional<TimeLinesRecord>& lines) {
    if (!lines) return nullptr;
    Json list = Json::array();
    for (const RankLine& line : lines->lines) list.push_back(time_line(line));
    return {{"elapsed_s", in_ns(lines->elapsed_s)},
            {"clock", lines->one_clock ? "one" : "barrier"},
            {"clock_uncertainty_s", lines->clock_uncertainty_s},
            {"phases", lines->phases},
            {"list", list}};
}

}  // namespace

const char* name(LimitArm::Against against) noexcept {
    switch (against) {
        case LimitArm::Against::aggregate:
            return "aggregate";
        case LimitArm::Against::write:
            return "write";
        case LimitArm::Against::durable:
            break;
    }
    return "durable";
}

std::optional<double> limit_ratio(const Record& record, const LimitArm& arm) {
    if (record.error || !record.bytes || !record.elapsed || arm.error) return std::nullopt;
    const double kernel_s = seconds(*record.elapsed, arm.against);
    if (kernel_s <= 0 || arm.elapsed_s <= 0 || arm.bytes == 0) return std::nullopt;
    return (static_cast<double>(record.bytes->logical) / kernel_s) /
           (static_cast<double>(arm.bytes) / arm.elapsed_s);
}

std::string to_json_line(const Record& record) {
    Json json{
        {"schema", record_schema},
        {"kernel", record.kernel},
        {"run_id", record.run_id},
        {"repetition", record.repetition},
        {"warm_up", record.warm_up},
        {"status", record.error ? "failed" : "ok"},
        {"error", error(record.error)},
        {"started", record.started},
        {"context", context(record.context)},
        {"configuration", configuration(record.configuration)},
        {"bytes", bytes(record.bytes)},
        {"phases", phases(record.phases)},
        {"steps", steps(record.steps)},
        {"elapsed", elapsed(record.elapsed)},
        {"rates", rates(record)},
        {"transfers", transfers(record.transfers)},
        {"mpi_io",
         {{"implementation", record.mpi_io.implementation},
          {"hints_requested", object(record.mpi_io.hints_requested)},
          {"hints_in_force", object(record.mpi_io.hints_in_force)}}},
        {"writers", writers(record)},
        {"reservation", {{"reserved", or_null(record.reserved)}, {"how", record.reservation}}},
        {"file", file(record.file)},
        {"memory", memory(record.memory)},
        {"verification", verification(record.verification)},
        {"read_back", read_back(record.read_back)},
        {"reads", reads(record)},
        {"limit", limit(record)},
        {"time_lines", time_lines(record.time_lines)}};
    // File names may hold any bytes; JSON may not.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string new_run_id() {
    std::random_device random;
    std::array<char, 9> bits{};
    std::snprintf(bits.data(), bits.size(), "%08x", random());
    return utc_now() + "-" + host_name() + "-" + std::to_string(::getpid()) + "-" + bits.data();
}

}  // namespace tailrace::core
