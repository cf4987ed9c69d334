// SPDX-License-Identifier: Apache-2.0
#include "formats/file/agree.hpp"

#include <cctype>
#include <string>

namespace tailrace::formats {

namespace {

/// Whether `name` is in the text, and not as a part of a word: files may be called "f".
bool is_named(const std::string& text, const std::string& name) {
    const auto in_word = [&](std::size_t at) {
        return std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_';
    };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !in_word(at - 1)) && (end == text.size() || !in_word(end))) return true;
    }
    return false;
}

}  // namespace

void agree_in_file(const comm::Comm& comm, const std::optional<core::Error>& mine,
                   const std::filesystem::path& file) {
    try {
        comm.agree(mine);
    } catch (const core::Error& error) {
        const std::string name = file.filename().string();
        if (is_named(error.where(), name) || is_named(error.message(), name)) throw;
        const std::string& place = error.where();
        throw error.with_where(file.string() + (place.empty() ? "" : ": " + place));
    }
}

}  // namespace tailrace::formats
