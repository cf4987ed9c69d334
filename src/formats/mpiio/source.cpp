// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <utility>

#include "formats/mpiio/sink.hpp"
#include "formats/posix/source.hpp"
#include "formats/raw/contents.hpp"

namespace tailrace::formats::mpiio {

namespace {

class SharedSource final : public core::Source {
public:
    SharedSource(const comm::Comm& comm, const std::filesystem::path& path, raw::Contents contents,
                 const Options& options, core::Phases& phases)
        : x_comm(comm),
          x_contents(std::move(contents)),
          x_collective(options.collective),
          x_phases(phases),
          x_file(comm, path, path, Access::read, options.hints) {}
    ~SharedSource() override { (void)x_file.close(); }

    core::Schema schema() override { return raw::schema_of(x_contents); }

    void read(std::span<core::Read> pieces) override {
        Portions portions;
        const auto bad = comm::Comm::caught([&] {
            for (const core::Read& piece : pieces) raw::check_read(piece, x_contents.objects);
            portions = portions_of(pieces, x_contents.objects, x_collective);
        });
        std::array<std::uint64_t, 3> most{bad ? 1u : 0u, portions.list.size(),
                                          portions.views ? 1u : 0u};
        {
            const auto agreeing = x_phases.enter("agree");
            x_comm.reduce(most, comm::Reduce::max);
            if (most[0] != 0) x_comm.agree(bad);
        }
        const auto failure = x_file.transfer(
            x_contents.objects, portions.list, [&](std::size_t p) { return pieces[p].object; },
            [&](std::size_t p) { return pieces[p].data; }, most[1], most[2] != 0, x_collective);
        const auto agreeing = x_phases.enter("agree");
        x_comm.agree(failure);
    }

private:
    comm::Comm x_comm;
    raw::Contents x_contents;
    bool x_collective;
    core::Phases& x_phases;
    File x_file;
};

}  // namespace

std::unique_ptr<core::Source> open_source(const comm::Comm& comm, const std::filesystem::path& path,
                                          const Options& options, core::Phases& phases) {
    raw::Contents contents = raw::load_contents(comm, path);
    if (contents.per_rank) return posix::open_raw_source(comm, path, phases);
    return std::make_unique<SharedSource>(comm, path, std::move(contents), options, phases);
}

}  // namespace tailrace::formats::mpiio
