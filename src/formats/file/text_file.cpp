// SPDX-License-Identifier: Apache-2.0
#include "formats/file/text_file.hpp"

#include <unistd.h>

#include <cerrno>

#include "core/cleanup.hpp"
#include "formats/file/final_name.hpp"

namespace tailrace::formats {

TextFile::TextFile(const std::filesystem::path& path)
    : x_path(follow_links(path)), x_part(part_of(x_path)), x_file(create_part(x_part)) {
    core::remove_on_interrupt(x_part);
}

TextFile::~TextFile() {
    if (x_file.open()) ::unlink(x_part.c_str());
    core::keep_on_interrupt(x_part);
}

void TextFile::publish(std::string_view text) {
    write_fully(x_file.get(), text.data(), text.size(), 0, x_path);
    if (::fsync(x_file.get()) != 0) throw system_error(errno, "cannot sync it", x_path);
    rename_part(x_part, x_path, core::Existing::replace);
    x_file.reset();
    sync_folder(folder_of(x_path));
}

}  // namespace tailrace::formats
