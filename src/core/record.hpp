// SPDX-License-Identifier: Apache-2.0
// The result of one repetition of a kernel, for programs: one JSON object per line, in the schema
// schemas/record-1.schema.json. docs/developer/records.md says how to fill and read it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/box.hpp"
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "core/time_lines.hpp"

namespace tailrace::core {

inline constexpr std::string_view record_schema = "tailrace-record/1";

/// A value of the effective configuration. monostate is null: "not set, the library decides".
using ConfigurationValue =
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                 std::vector<std::uint64_t>, std::vector<std::string>,
                 std::vector<std::vector<std::string>>, std::map<std::string, std::string>>;

/// One quantity over ranks.
struct Spread {
    double min = 0, mean = 0, max = 0;
};
/// Min, mean and max of `values`; zeros for none.  [local]
[[nodiscard]] Spread spread_of(std::span<const double> values);

struct PhaseRecord {
    Spread elapsed_s;  ///< over ranks, of the sum over the entries of a rank
    /// Until the file had its name, of the rank that the others waited for; nothing where it had
    /// none. Over all phases these add up to the time that passed.
    std::optional<double> path_s;
    std::uint64_t entries = 0;  ///< the greatest over ranks
};

/// Times of one step over ranks; or, in a run of very many, of some consecutive steps: min and max
/// are then over ranks and steps, the mean is that of one step.
struct StepRecord {
    std::uint64_t step = 0;           ///< the first one
    std::uint64_t count = 1;          ///< of steps
    Spread write_s;                   ///< in the calls that write, agreement apart
    std::optional<Spread> sync_s;     ///< only with a sync in every step
    std::optional<Spread> compute_s;  ///< only with emulated computation
    /// Of a kernel that has a ServingRecord: in all calls of the step, creating and ending the file
    /// included.
    std::optional<Spread> stall_s{};
};

/// Of a file that was written to its end.
struct BytesRecord {
    std::uint64_t logical = 0;    ///< of all elements that were written
    std::uint64_t stored = 0;     ///< size of the file(s)
    std::uint64_t allocated = 0;  ///< blocks on the file system
};

/// Wall-clock seconds from the last rank in to the last rank out.
struct ElapsedRecord {
    double durable_s = 0;    ///< create ... synced and closed: the headline
    double write_s = 0;      ///< in write calls only
    double aggregate_s = 0;  ///< open + write + close, without the sync
};

/// What was transferred how. Unset optionals are "not measured".
struct TransfersRecord {
    bool collective_requested = false;
    std::optional<bool> collective_actual;
    std::string mode;                 ///< as the library reports it
    std::string no_collective_cause;  ///< empty: none
    bool metadata_collective_requested = false;
    std::optional<bool> metadata_collective_actual;
    std::string metadata_evidence;
};

struct MpiIoRecord {
    std::string implementation;  ///< empty: no MPI-IO
    std::map<std::string, std::string> hints_requested, hints_in_force;
};

/// Memory of a rank, the greatest over ranks; 0: not measured.
struct MemoryRecord {
    std::uint64_t after_init_bytes_max = 0;       ///< resident when MPI_Init had returned
    std::uint64_t peak_bytes_max = 0;             ///< VmHWM at the end
    std::uint64_t peak_above_init_bytes_max = 0;  ///< of the difference of both
    std::uint64_t data_bytes_max = 0;             ///< the buffer of one step
};

struct WrongElement {
    std::string object;
    std::vector<std::uint64_t> index;
    double expected = 0, found = 0;
};
enum class VerificationStatus { not_run, passed, failed };
struct VerificationRecord {
    VerificationStatus status = VerificationStatus::not_run;
    std::uint64_t elements = 0;  ///< that were compared
    std::uint64_t wrong = 0;
    std::vector<WrongElement> first;  ///< at most 10
};

/// A timed read by another decomposition.
struct ReadBackRecord {
    std::vector<std::uint64_t> decomposition;  ///< ranks per dimension of the reading grid
    std::uint64_t bytes = 0;
    double elapsed_s = 0;
    std::string cache;  ///< "warm", "dropped", "unknown"
};

/// One timed pattern of reading a finished file, every element compared with what was written.
struct ReadRecord {
    std::string pattern;         ///< "same", "other", "plane", "points", "shuffled"
    std::uint64_t bytes = 0;     ///< read by all ranks
    std::uint64_t requests = 0;  ///< boxes asked for by all ranks
    double elapsed_s = 0;        ///< in read calls, sum of the slowest rank's; opening apart
    double open_s = 0;           ///< opening, from the last rank in to the last rank out
    std::string cache;           ///< "warm", "dropped", "unknown"
    std::string cache_evidence;  ///< "0 of 128 pages were in memory"
    std::uint64_t elements = 0;  ///< that were compared
    std::uint64_t wrong = 0;
};

/// The same bytes from the same ranks by the plainest means, beside the kernel.
struct LimitArm {
    /// With which time of the kernel it compares.
    enum class Against { durable, aggregate, write };

    std::string name;
    Against against = Against::durable;
    std::uint64_t bytes = 0;
    double elapsed_s = 0;        ///< from the last rank in to the last rank out
    std::optional<Error> error;  ///< set: it could not be measured
};
/// "durable", "aggregate" or "write".  [local]
[[nodiscard]] const char* name(LimitArm::Against against) noexcept;

struct LimitRecord {
    std::vector<std::string> order;  ///< of the arms and "kernel", as they ran
    std::vector<LimitArm> arms;
};

/// The ranks of the model, or those of the servers.
struct ServingPart {
    std::uint64_t ranks = 0;
    std::optional<Spread> messages_sent, messages_received;  ///< unset: there are none
    std::optional<Spread>
        cpu_s;  ///< of the model in its calls, of servers all; unset: not measured
};
/// What waited at a server, the greatest over servers.
struct QueueRecord {
    std::uint64_t bytes_max = 0;
    std::uint64_t items_max = 0;  ///< steps and other endings without a verdict
};
/// Proportional set size of all processes together.
struct SharedMemoryRecord {
    std::uint64_t idle_bytes = 0, peak_bytes = 0;
    std::uint64_t samples = 0;  ///< of the node with the fewest
};
struct FileTimeRecord {
    std::string path;
    std::uint64_t bytes = 0;  ///< of all elements
    double elapsed_s = 0;     ///< from the first data until it has its name
};
/// How a model handed its output over, and to whom.
struct ServingRecord {
    std::string kind;  ///< "plain": no server; "embedded", "simple"
    ServingPart model, servers;
    Spread stall_s;            ///< of all steps, without the last wait for files of others
    double memory_copy_s = 0;  ///< one copy of the same bytes by the same ranks at once
    std::optional<QueueRecord> queue{};
    std::optional<SharedMemoryRecord> memory{};
    std::vector<FileTimeRecord> files{};
};

struct FileRecord {
    std::string path;
    std::vector<std::string> parts;
    std::map<std::string, std::string> settings;        ///< in force, read back from the file
    std::map<std::string, std::string> content_hashes;  ///< XXH3-128 per object path; may be empty
    bool durable = false;
};

struct Record {
    std::string kernel;
    std::string run_id;            ///< equal for all repetitions of one run: new_run_id()
    std::uint64_t repetition = 0;  ///< 0 is the warm-up where there is one, else counted from 1
    bool warm_up = false;
    std::optional<Error> error;  ///< set: status "failed"
    std::string started;         ///< utc_now() at the start of the repetition
    Context context;
    std::map<std::string, ConfigurationValue> configuration;  ///< every key, defaults filled in
    std::optional<BytesRecord> bytes;                         ///< unset: the write failed
    std::map<std::string, PhaseRecord> phases;
    std::vector<StepRecord> steps;
    std::optional<ElapsedRecord> elapsed;  ///< unset: the write failed
    TransfersRecord transfers;
    MpiIoRecord mpi_io;
    std::vector<WriterReport> writers;
    bool writers_measured = false;
    std::optional<bool> reserved;  ///< unset: not known
    std::string reservation;
    FileRecord file;
    MemoryRecord memory;
    VerificationRecord verification;
    std::optional<ReadBackRecord> read_back;
    std::vector<ReadRecord> reads;  ///< empty: none were asked for
    std::optional<LimitRecord> limit;
    std::optional<ServingRecord> serving;       ///< of kernels that are models
    std::optional<TimeLinesRecord> time_lines;  ///< unset: ended before the create, or no memory
};

/// Copies all that a FileReport knows into its places of the Record: bytes, transfers (the
/// requested ones apart), hints in force, writers, reservation, striping, file.  [local]
void take(Record& record, const FileReport& report);
/// The same for a file that failed and was discarded: it has no sizes, and its path is the one
/// that it would have had.  [local]
void take_failed(Record& record, const FileReport& report);

/// Rate of the kernel by that of the arm, both over the same stretch; nothing where one of them was
/// not measured.  [local]
[[nodiscard]] std::optional<double> limit_ratio(const Record& record, const LimitArm& arm);

/// How many ranks wrote at least one byte.  [local]
[[nodiscard]] std::uint64_t ranks_that_wrote(std::span<const WriterReport> writers) noexcept;

/// Names of `times` and its values in that order, for gathering phases over ranks by name: the
/// ranks may have been in different phases.  [local]
[[nodiscard]] std::string phases_to_text(const std::map<std::string, PhaseTime>& times);
/// The inverse over all ranks: texts of phases_to_text, one per rank. A rank that was never in a
/// phase counts as 0 s.  [local]
/// @param until_named  the same of the times until the file had its name, for `path_s`: the others
///        waited for the rank with the least time in phase "agree"
/// @throws Error{Code::internal} on a damaged text
[[nodiscard]] std::map<std::string, PhaseRecord> phases_of(
    std::span<const std::string> texts, std::span<const std::string> until_named = {});
/// The Record as one line of JSON without the line end.  [local]
[[nodiscard]] std::string to_json_line(const Record& record);
/// The JSON Schema of such a line: schemas/record-1.schema.json.  [local]
[[nodiscard]] std::string record_json_schema();

/// A name for a run: UTC time, host, process and random bits; give it to all ranks.  [local]
[[nodiscard]] std::string new_run_id();

}  // namespace tailrace::core
