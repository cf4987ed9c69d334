// SPDX-License-Identifier: Apache-2.0
// The keys of a Record, once: for its line and for schemas/record-1.schema.json.
#include "core/json/schema.hpp"
#include "core/record.hpp"
#include "core/record_parts.hpp"

namespace tailrace::json {

namespace {

constexpr KeyRule not_empty = limited(R"({"minLength": 1})");

/// Place in a comparison, a sweep or a scaling: the `tailrace` command adds it.
struct Arm {
    std::string comparison, name;
    std::uint64_t round = 0;
    std::vector<std::string> without;
    std::optional<bool> as_default;
};

/// One member of what may not be there.
template <class Whole, class Part>
std::optional<Part> part(const std::optional<Whole>& whole, Part Whole::*which) {
    return whole ? std::optional(*whole.*which) : std::nullopt;
}

std::optional<std::uint64_t> measured(std::uint64_t bytes) { return only_if(bytes > 0, bytes); }

/// Of the kernel; nothing where the repetition failed.
std::optional<double> rate_of(const Record& record, double ElapsedRecord::*seconds) {
    if (record.error || !record.bytes || !record.elapsed) return std::nullopt;
    return rate(record.bytes->logical, *record.elapsed.*seconds);
}

std::vector<WrongElement> first_ten(const std::vector<WrongElement>& all) {
    return {all.begin(), all.begin() + std::min<std::ptrdiff_t>(std::ssize(all), 10)};
}

std::optional<ComparedLimit> compared(const Record& record) {
    if (!record.limit) return std::nullopt;
    ComparedLimit limit{record.limit->order, {}};
    for (const LimitArm& arm : record.limit->arms)
        limit.arms.emplace_back(arm.name, ComparedArm{arm, limit_ratio(record, arm)});
    return limit;
}

}  // namespace

template <>
struct Fields<Arm> {
    static constexpr std::string_view name = "arm";
    static void visit(auto& v, auto& s) {
        v("comparison", s.comparison,
          "Equal for all runs of one comparison; of a sweep it begins with sweep-, of a scaling "
          "with scale-.",
          not_empty);
        v("name", s.name,
          "Which side: A or B; A1 and A2 in A against A; of a sweep the combination, name=value.",
          not_empty);
        v("round", s.round,
          "Runs of one round ran next to each other, in random order; 0: warm-ups.");
        v("without", s.without,
          "Factors of a sweep that have no effect in this combination; absent: all have one.",
          absent);
        v("default", s.as_default,
          "Of a sweep: this combination runs as if nothing was varied; absent: it does not.",
          absent);
    }
};

template <>
struct Fields<Record> {
    static void visit(auto& v, auto& s) {
        run(v, s);
        outcome(v, s);
        transfers(v, s);
        checks(v, s);
    }

private:
    static void run(auto& v, auto& s) {
        v("kernel", s.kernel, "Kernel that ran.", not_empty);
        v("run_id", s.run_id, "Equal for all repetitions of one run.", not_empty);
        v("repetition", s.repetition,
          "Number of the repetition; the warm-up, where there is one, is 0.");
        v("warm_up", s.warm_up, "The warm-up: kept, and left out of statistics.");
        v("arm", std::optional<Arm>(),
          "Place in a comparison, a sweep or a scaling whose runs were made by `tailrace compare "
          "--run`, `tailrace sweep` or `tailrace scale`; absent elsewhere.",
          absent);
        v("status", std::string(s.error ? "failed" : "ok"), "Whether the repetition ended well.",
          limited(R"({"enum": ["ok", "failed"]})"));
        v("error", s.error, "Null where status is ok.");
        v("started", s.started, "Start of the repetition, ISO 8601 in UTC.", limited(R"({"pattern":
                      "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"})"));
        v("context", s.context, "Where the result comes from.");
        v("configuration", s.configuration,
          "Effective configuration: every key, defaults filled in.",
          limited(R"({"additionalProperties": {
              "type": null,
              "description": "Null where it is not set and the library decides.",
              "anyOf": [{"type": ["null", "boolean", "number", "string"]},
                        {"type": "array",
                         "items": {"anyOf": [{"type": ["number", "string"]},
                                             {"type": "array", "items": {"type": "string"}}]}},
                        {"type": "object", "additionalProperties": {"type": "string"}}]}})"));
    }

    static void outcome(auto& v, auto& s) {
        v.object("bytes", "Amounts of data, in bytes.", [&](auto& of) {
            of("logical", part(s.bytes, &BytesRecord::logical),
               "Bytes of all elements written by all ranks; null: the write failed.");
            of("stored", part(s.bytes, &BytesRecord::stored),
               "Size of the file or files; null: the write failed.");
            of("allocated", part(s.bytes, &BytesRecord::allocated),
               "Blocks on the file system; may be less than stored where the file has holes; null: "
               "the write failed.");
        });
        v("phases", s.phases, "Wall-clock time by phase, without phases nested inside.");
        v("steps", s.steps,
          "One entry per time step, in order; in runs of more than 1024 steps per block of equally "
          "many steps (the last may be shorter).");
        v.object("elapsed", "Wall-clock seconds from the last rank in to the last rank out.",
                 [&](auto& of) {
                     of("durable_s", part(s.elapsed, &ElapsedRecord::durable_s),
                        "From the create to the synced close: the headline; null: the write "
                        "failed.");
                     of("write_s", part(s.elapsed, &ElapsedRecord::write_s),
                        "In write calls only; null: the write failed.");
                     of("aggregate_s", part(s.elapsed, &ElapsedRecord::aggregate_s),
                        "Open, write and close, without the sync; null: the write failed.");
                 });
        v.object("rates",
                 "bytes.logical divided by a time; null where the time is 0 or the repetition "
                 "failed.",
                 [&](auto& of) {
                     of("write_bytes_per_s", rate_of(s, &ElapsedRecord::write_s),
                        "By elapsed.write_s.");
                     of("aggregate_bytes_per_s", rate_of(s, &ElapsedRecord::aggregate_s),
                        "By elapsed.aggregate_s.");
                     of("durable_bytes_per_s", rate_of(s, &ElapsedRecord::durable_s),
                        "By elapsed.durable_s.");
                 });
    }

    static void transfers(auto& v, auto& s) {
        v("transfers", s.transfers, "How data and metadata were transferred; null: not measured.");
        v("mpi_io", s.mpi_io, "MPI-IO.");
        v.object("writers", "Who actually wrote: system calls below the libraries.", [&](auto& of) {
            of("measured", s.writers_measured, "Calls were counted.");
            of("ranks_that_wrote", only_if(s.writers_measured, ranks_that_wrote(s.writers)),
               "Ranks that wrote at least one byte; null: not measured.");
            of("list", s.writers, "One per rank, in rank order; empty where not measured.");
        });
        v.object("reservation", "Space set aside before the first write.", [&](auto& of) {
            of("reserved", s.reserved, "Space was set aside; null: not known.");
            of("how", s.reservation, "By what, or why not.");
        });
        v("file", s.file, "The file.");
    }

    static void checks(auto& v, auto& s) {
        v.object("memory", "Memory of a rank, greatest over ranks, in bytes.", [&](auto& of) {
            const MemoryRecord& memory = s.memory;
            of("after_init_bytes_max", measured(memory.after_init_bytes_max),
               "Resident after MPI_Init; null: not measured.");
            of("peak_bytes_max", measured(memory.peak_bytes_max),
               "Peak of the process; null: not measured.");
            of("peak_above_init_bytes_max",
               only_if(memory.peak_bytes_max > 0, memory.peak_above_init_bytes_max),
               "Peak less resident after MPI_Init; null: not measured.");
            of("data_bytes_max", measured(memory.data_bytes_max),
               "Buffer of one step; null: not measured.");
        });
        v.object("verification", "Check of the elements in the file.", [&](auto& of) {
            const VerificationRecord& verdict = s.verification;
            const bool ran = verdict.status != VerificationStatus::not_run;
            of("status", verdict.status, "Verdict.");
            of("elements", only_if(ran, verdict.elements), "Elements compared; null: not run.");
            of("wrong", only_if(ran, verdict.wrong), "Elements that differ; null: not run.");
            of("first", first_ten(verdict.first), "The first wrong elements.",
               limited(R"({"maxItems": 10})"));
        });
        v("read_back", s.read_back,
          "Timed read by another decomposition; null where it was not asked for.");
        v("reads", s.reads,
          "Timed patterns of reading, in the order in which they ran; absent in Records of older "
          "versions.",
          later);
        v("limit", compared(s),
          "The same bytes from the same ranks by the plainest means, run beside the kernel in "
          "random order; null where it was not asked for. Older records do not have the key.",
          later);
        v("serving", s.serving,
          "How a model handed its output over, and to whom; absent in Records of kernels that are "
          "none.",
          absent);
        v("time_lines", s.time_lines,
          "When each rank was in which phase, gathered after the measurement; null where the run "
          "ended before the file was created, or a rank had no memory for it. Older records do not "
          "have the key.",
          later);
    }
};

}  // namespace tailrace::json

namespace tailrace::core {

const char* name(LimitArm::Against against) noexcept { return json::name_of(against).data(); }

std::string to_json_line(const Record& record) {
    // File names may hold any bytes; JSON may not.
    return json::document_of(record_schema, record, true)
        .dump(-1, ' ', false, json::Json::error_handler_t::replace);
}

std::string record_json_schema() {
    return json::text_of(json::document_schema<Record>(
        std::string(record_schema),
        "One repetition of a kernel, one JSON object per line. Sizes in bytes, times in seconds, "
        "rates in bytes per second; units stand in the names.",
        true));
}

}  // namespace tailrace::core
