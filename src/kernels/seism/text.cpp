// SPDX-License-Identifier: Apache-2.0
#include "runner/text.hpp"

#include "core/units.hpp"
#include "kernels/seism/text.hpp"

namespace tailrace::kernels::seism {

using core::rate_text;
using core::seconds_text;
using runner::by_x;
using runner::labelled;
using runner::metadata_text;
using runner::rate;
using runner::yes;

std::string echo_text(const Inputs& inputs) {
    const Geometry& geometry = inputs.geometry;
    const formats::Facts facts = inputs.options.facts();
    return std::string(80, '=') + "\n" +
           labelled("Number of processes", std::to_string(geometry.ranks())) +
           labelled("Process layout", by_x(geometry.processor)) +
           labelled("Per process grid", by_x(geometry.domain)) +
           labelled("Chunk dimensions", inputs.chunk ? by_x(*inputs.chunk) : "none (contiguous)") +
           labelled("Number of time steps", std::to_string(geometry.steps)) +
           labelled("Pre-create", yes(facts.precreate)) +
           labelled("Collective I/O", yes(inputs.collective())) +
           labelled("Collective metadata requested", yes(facts.collective_metadata)) +
           labelled("Early allocation", yes(facts.early_allocation)) +
           labelled("H5D_FILL_TIME_NEVER set", yes(facts.never_fill_time));
}

std::string classic_text(const core::Record& record, const runner::Figures& figures) {
    std::string label = "Create/open", precreated;
    if (figures.precreate_s > 0) {
        label = "Pre-create/open";
        precreated = labelled("Time in precreate_0()", seconds_text(figures.precreate_s)) +
                     labelled("Time in H5Fopen()", seconds_text(figures.open_file_s)) +
                     labelled("Time in H5Dopen()", seconds_text(figures.open_dataset_s));
    }
    return labelled(label, seconds_text(figures.open_s)) + precreated +
           labelled("Write", seconds_text(figures.write_s)) +
           labelled("Write throughput", rate_text(rate(figures.bytes, figures.write_s))) +
           labelled("Close file", seconds_text(figures.close_s)) +
           labelled("Aggregate throughput", rate_text(rate(figures.bytes, figures.aggregate_s()))) +
           labelled("Mdata ops actually collective", metadata_text(record.transfers));
}

}  // namespace tailrace::kernels::seism
