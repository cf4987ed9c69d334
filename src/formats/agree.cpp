// SPDX-License-Identifier: Apache-2.0
#include "formats/agree.hpp"

namespace tailrace::formats {

void agree_in_file(const comm::Comm& comm, const std::optional<core::Error>& mine,
                   const std::filesystem::path& file) {
    try {
        comm.agree(mine);
    } catch (const core::Error& error) {
        const std::string name = file.filename().string();
        const auto has_name = [&](const std::string& text) {
            return text.find(name) != std::string::npos;
        };
        if (has_name(error.where()) || has_name(error.message())) throw;
        const std::string& place = error.where();
        throw error.with_where(file.string() + (place.empty() ? "" : ": " + place));
    }
}

}  // namespace tailrace::formats
