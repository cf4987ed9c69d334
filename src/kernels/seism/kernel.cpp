// SPDX-License-Identifier: Apache-2.0
#include "kernels/seism/kernel.hpp"

#include <utility>

#include "kernels/seism/fill.hpp"
#include "kernels/seism/schema.hpp"
#include "kernels/seism/text.hpp"

namespace tailrace::kernels::seism {

namespace {

namespace fs = std::filesystem;

/// Numbers are no names, even where a file is called so.
bool may_be_a_file(const std::string& word) {
    std::string why;
    const std::string digits = word.starts_with('-') ? word.substr(1) : word;
    std::error_code failed;
    return !core::parse_real(digits, why) && fs::is_regular_file(word, failed);
}

std::unique_ptr<Fill> checked_fill(const Inputs& inputs) {
    try {
        return make_fill(inputs.fill, inputs.geometry, inputs.plugin);
    } catch (const core::Error& error) {
        throw runner::at_its_line(inputs.config, error);
    }
}

class SeismKernel final : public runner::Kernel {
public:
    explicit SeismKernel(Inputs inputs)
        : x_inputs(std::move(inputs)), x_fill(checked_fill(x_inputs)) {}

    [[nodiscard]] std::string name() const override { return "seism"; }
    [[nodiscard]] const runner::Plan& plan() const override { return x_inputs; }
    [[nodiscard]] std::uint64_t ranks() const override { return x_inputs.geometry.ranks(); }
    [[nodiscard]] std::uint64_t steps() const override { return x_inputs.geometry.steps; }
    [[nodiscard]] core::Schema schema() const override { return seism::schema_of(x_inputs); }
    [[nodiscard]] core::Scalar type(std::size_t) const override { return core::Scalar::f32; }

    [[nodiscard]] std::vector<runner::Piece> pieces(std::uint64_t rank,
                                                    std::uint64_t step) const override {
        return {{0, x_inputs.geometry.place_of(rank, step)}};
    }
    [[nodiscard]] std::vector<runner::Piece> other_pieces(std::uint64_t rank,
                                                          std::uint64_t step) const override {
        return {{0, x_inputs.geometry.reading_place_of(rank, step)}};
    }
    [[nodiscard]] std::vector<std::uint64_t> other_decomposition() const override {
        std::vector<std::uint64_t> grid{1, 1, 1, 1};
        grid[1 + x_inputs.geometry.reading_axis()] = x_inputs.geometry.ranks();
        return grid;
    }
    [[nodiscard]] std::string axes(std::size_t) const override { return "time, x, y, z"; }

    [[nodiscard]] bool differs_per_step() const noexcept override {
        return x_fill->differs_per_step();
    }
    void values(const runner::Piece& piece, std::span<std::byte> values) const override {
        x_fill->values(piece.place,
                       {reinterpret_cast<float*>(values.data()), values.size() / sizeof(float)});
    }
    [[nodiscard]] std::optional<core::Error> failure() const override { return x_fill->failure(); }
    [[nodiscard]] bool may_fail() const noexcept override { return x_fill->may_fail(); }

    [[nodiscard]] std::uint64_t bytes_per_rank() const override {
        return x_inputs.geometry.bytes_per_rank();
    }
    [[nodiscard]] std::uint64_t bytes() const override { return x_inputs.geometry.bytes(); }
    [[nodiscard]] std::uint64_t reserve_bytes() const override { return x_inputs.reserve_bytes(); }
    [[nodiscard]] core::Extents chunk(std::size_t) const override {
        if (!x_inputs.chunk) return {};
        core::Extents chunk = *x_inputs.chunk;
        chunk.insert(chunk.begin(), 1);
        return chunk;
    }

    [[nodiscard]] std::string size_text() const override {
        return "a domain of " + runner::by_x(x_inputs.geometry.domain);
    }
    [[nodiscard]] const char* size_key() const noexcept override { return "domain"; }
    [[nodiscard]] std::string smaller(std::uint64_t) const override {
        return "choose a smaller domain, or fewer ranks per node";
    }
    [[nodiscard]] std::vector<runner::NamedFile> files_read() const override {
        std::vector<runner::NamedFile> reads;
        const PluginCall& plugin = x_inputs.plugin;
        if (plugin.library.find('/') != std::string::npos)
            reads.push_back({"use_function_lib", "use_function_lib", plugin.library});
        for (const std::string& word : plugin.arguments)
            if (may_be_a_file(word))
                reads.push_back({"use_function_argv", "use_function_argv", word});
        return reads;
    }

    [[nodiscard]] std::string echo_text() const override { return seism::echo_text(x_inputs); }
    [[nodiscard]] std::string classic_text(const core::Record& record,
                                           const runner::Figures& figures) const override {
        return seism::classic_text(record, figures);
    }

private:
    Inputs x_inputs;
    std::unique_ptr<Fill> x_fill;
};

}  // namespace

std::unique_ptr<runner::Kernel> make_kernel(Inputs inputs) {
    return std::make_unique<SeismKernel>(std::move(inputs));
}

}  // namespace tailrace::kernels::seism
