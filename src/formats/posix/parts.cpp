// SPDX-License-Identifier: Apache-2.0
#include "formats/posix/parts.hpp"

#include <sys/stat.h>

#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "formats/file/companions.hpp"
#include "formats/raw/description.hpp"
#include "formats/raw/trailer.hpp"

namespace tailrace::formats::posix {

namespace fs = std::filesystem;
using core::Code;
using core::Error;

namespace {

constexpr const char* second_suffix = ".b";

}  // namespace

PartNames part_names_for(const fs::path& manifest) {
    const std::string own = manifest.filename().string();
    for (const fs::path& file : companions_of(manifest))
        if (is_part_name(own, file.filename().string()) && file.extension() != second_suffix)
            return PartNames::second;
    return PartNames::first;
}

fs::path part_of_rank(const fs::path& manifest, int rank, PartNames names) {
    return folder_of(manifest) / (raw::part_name(manifest.filename().string(), rank) +
                                  (names == PartNames::second ? second_suffix : ""));
}

bool is_part(const fs::path& file) {
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    try {
        return raw::describes_part(raw::read_description(file).text);
    } catch (const Error&) {
        return false;
    }
}

void check_per_rank(const Options& options, const fs::path& manifest) {
    if (!options.chunks.empty())
        throw Error(Code::bad_input, "chunks have no meaning in a file per rank", manifest.string(),
                    "leave out chunk, or use format posix (one shared file)");
}

void check_parts_beside(const fs::path& manifest) {
    const std::string own = manifest.filename().string();
    const std::vector<fs::path> named = companions_of(manifest);
    const std::set<fs::path> known(named.begin(), named.end());
    std::vector<fs::path> others;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder_of(manifest), unreadable)) {
        const fs::path file = manifest.parent_path() / entry.path().filename();
        if (is_part_name(own, file.filename().string()) && !known.contains(file))
            others.push_back(file);
    }
    check_unshared(manifest, others);
}

void check_part(const fs::path& part, core::Existing existing, LeftOver left_over) {
    check_target(part, existing);
    std::error_code ignored;
    if (fs::exists(part, ignored) && !is_part(part))
        throw in_the_way(part, "it is not a part that a run has left");
    check_left_over(part_of(part), left_over);
}

}  // namespace tailrace::formats::posix
