// SPDX-License-Identifier: Apache-2.0
// The Sink over PnetCDF. docs/user/format_pnetcdf.md says what each option does.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "core/phases.hpp"
#include "core/sink.hpp"
#include "formats/options.hpp"
#include "formats/pnetcdf/nc.hpp"
#include "formats/sink/file_sink.hpp"
#include "formats/sink/pieces.hpp"

namespace tailrace::formats::pnetcdf {

class Sink final : public FileSink {
public:
    /// Checks, reserves, makes an empty file and opens it by all ranks.  [collective]
    Sink(const comm::Comm& comm, const core::Target& target, const Options& options,
         core::Phases& phases);
    ~Sink() override;

private:
    /// One call's worth of a piece.
    struct Part {
        const core::Write* piece = nullptr;
        core::Box box;
        std::uint64_t bytes = 0;  ///< in the file
    };
    /// One call of write(): this rank's parts by object, and what all ranks together need.
    struct Batch {
        std::vector<std::vector<Part>> mine;
        std::vector<std::uint64_t> rounds;  ///< per object: most parts of any rank
        std::uint64_t flushes = 0;          ///< most waits of any rank, were all parts posted
        std::uint64_t records = 0;          ///< the file has afterwards
    };
    /// What is known of the file just before it is closed.
    struct LastLook {
        std::map<std::string, std::string> settings;
        Hints hints;
        std::uint64_t end_bytes = 0;      ///< the length that the header speaks of
        std::uint64_t patch_records = 0;  ///< records that were declared and not written; 0: none
    };
    struct Dimension {
        int id = -1;
        std::uint64_t size = 0;  ///< 0: of the records
    };

    // sink_define.cpp
    void create_file();
    void check(const core::Schema& schema) const override;
    void create(const core::Schema& schema) override;
    [[nodiscard]] std::size_t objects() const noexcept override { return x_objects.size(); }
    void add_definitions(const core::Schema& schema);
    void fill_declared(const core::Schema& schema);
    int add_variable(const core::Object& object);
    [[nodiscard]] std::vector<int> add_dimensions(const core::Object& object);
    [[nodiscard]] int record_dimension_for(const core::Object& object);
    [[nodiscard]] int dimension_for(const core::Object& object, std::size_t axis);
    void fill_records(std::uint64_t until);
    [[nodiscard]] bool fills(const core::Object& object) const;

    // sink_write.cpp
    void check_pieces(std::span<const core::Write> pieces) const;
    [[nodiscard]] std::vector<std::vector<Part>> parts_of(
        std::span<const core::Write> pieces) const;
    [[nodiscard]] std::uint64_t flushes_for(const std::vector<std::vector<Part>>& parts) const;
    [[nodiscard]] Needs needs(std::span<const core::Write> pieces) override;
    void transfer(std::span<const core::Write> pieces,
                  std::span<const std::uint64_t> agreed) override;
    void finish_step() override;
    void flush() override;
    void put(const Batch& batch);
    void post(const Batch& batch);
    void put_one(std::size_t object, const Part* part);
    void post_one(std::size_t object, const Part& part);
    [[nodiscard]] const std::byte* memory_of(const Part& part, bool keep);
    void prepare_buffer(const Batch& batch);
    [[nodiscard]] bool one_call(std::size_t object, const Batch& batch) const;
    void wait();

    // sink_close.cpp
    void publish() override;
    void look_at_open_file();
    void settle_length();
    void discard() noexcept override;
    void abandon() noexcept override;
    core::FileReport report() override;
    void say_how_collective(core::FileReport& report) const;

    Options x_options;
    nc::File x_file;
    std::vector<core::Object> x_objects;
    std::vector<int> x_variables;                   ///< of the objects
    std::map<std::string, Dimension> x_dimensions;  ///< by name
    int x_record_dimension = -1;                    ///< -1: none yet
    std::uint64_t x_records = 0;          ///< of the file, as writes and definitions reach
    std::uint64_t x_written_records = 0;  ///< of the file, by writes alone
    bool x_defined = false, x_independent = false;
    std::vector<std::vector<Part>> x_parts;  ///< of the batch between needs() and transfer()
    std::vector<int> x_requests;             ///< posted by this rank
    std::uint64_t x_posted_bytes = 0;        ///< by these
    bool x_unfinished = false;               ///< some rank may have posted since the last wait
    std::vector<std::vector<std::byte>> x_packed;  ///< memory of posted parts
    std::vector<std::byte> x_scratch;              ///< memory of a part that is not kept
    std::uint64_t x_buffer_bytes = 0, x_buffer_used = 0, x_step_bytes = 0, x_most_step_bytes = 0;
    std::uint64_t x_calls = 0, x_waits = 0;  ///< of this rank, for the report
    std::uint64_t x_bytes_asked = 0;         ///< by the writes of this rank, in the file's types
    std::uint64_t x_header_bytes = 0;        ///< that this rank wrote between data
    LastLook x_last;
};

}  // namespace tailrace::formats::pnetcdf
