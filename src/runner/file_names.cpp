// SPDX-License-Identifier: Apache-2.0
// The files that a run writes against those that it reads, and against each other.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>

#include "formats/file/part_file.hpp"
#include "formats/split/per_process.hpp"
#include "runner/run.hpp"

namespace tailrace::runner {

namespace fs = std::filesystem;
using core::Code;
using core::Error;
using core::in_quotes;

namespace {

bool is_same(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/// Where a name leads.
struct Whereabouts {
    fs::path folder, name;
    std::optional<struct stat> of_folder, of_file;  ///< as far as they are there
};

std::optional<struct stat> look_at(const fs::path& path) {
    struct stat there {};
    if (::stat(path.c_str(), &there) != 0) return std::nullopt;
    return there;
}

/// Without links and dots, as far as it exists.
Whereabouts place_of(const fs::path& path) {
    const fs::path file = formats::follow_links(path);
    std::error_code failed;
    fs::path folder = fs::weakly_canonical(fs::absolute(formats::folder_of(file)), failed);
    if (failed) folder = formats::folder_of(file).lexically_normal();
    return {folder, file.filename(), look_at(folder), look_at(path)};
}

bool both_same(const std::optional<struct stat>& a, const std::optional<struct stat>& b) {
    return a && b && is_same(*a, *b);
}

bool same_folder(const Whereabouts& a, const Whereabouts& b) {
    return a.folder == b.folder || both_same(a.of_folder, b.of_folder);
}

bool same_file(const Whereabouts& a, const Whereabouts& b) {
    return both_same(a.of_file, b.of_file) || (a.name == b.name && same_folder(a, b));
}

bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether `name` is one that a run makes beside the file `output`: docs/reference/file_names.md.
bool is_derived(const std::string& output, const std::string& name) {
    if (name.size() <= output.size() + 1 || name.compare(0, output.size(), output) != 0 ||
        name[output.size()] != '.')
        return false;
    std::string_view rest = std::string_view(name).substr(output.size() + 1);
    if (rest.starts_with("part") || rest.starts_with("manifest") || rest.starts_with("subfile_"))
        return true;
    return rest.size() >= 5 && all_digits(rest.substr(0, 5));  // a file per rank
}

enum class Use { replaced, appended_to, read };

struct Used {
    NamedFile file;
    Use use;
    Whereabouts place = place_of(file.file);
    [[nodiscard]] std::string text() const {
        return file.what + " " + in_quotes(file.file.string());
    }
};

/// Whether `b` has a name that the run makes beside `a`.
bool is_beside(const Used& a, const Used& b) {
    return a.use == Use::replaced && same_folder(a.place, b.place) &&
           is_derived(a.place.name.string(), b.place.name.string());
}

void refuse_clash(const Plan& plan, const Used& one, const Used& other) {
    std::string text;
    if (same_file(one.place, other.place))
        text = other.text() + " and " + one.text() + " are the same file";
    else if (is_beside(one, other))
        text = other.text() + " has a name that the run makes beside " + one.text();
    else if (is_beside(other, one))
        text = one.text() + " has a name that the run makes beside " + other.text();
    else
        return;
    std::string place = plan.config.place(other.file.key);
    if (place.empty()) place = plan.config.place(one.file.key);
    throw Error(Code::bad_input, text, place, "give one of them another name");
}

bool begins_with(const fs::path& path, std::string_view text) {
    const auto there = look_at(path);
    if (!there || !S_ISREG(there->st_mode)) return false;
    std::string found(text.size(), '\0');
    std::ifstream file(path, std::ios::binary);
    return file.read(found.data(), static_cast<std::streamsize>(found.size())) && found == text;
}

bool is_standard_input(const fs::path& path) {
    struct stat input {};
    return ::fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode) &&
           both_same(input, look_at(path));
}

/// `program < run.in` reads run.in, also where a launcher hands it on through a pipe: then only
/// what the file begins with tells.
void refuse_own_lines(const Plan& plan, const char* key, const fs::path& file) {
    if (plan.read_once.empty()) return;
    const bool same = is_standard_input(file);
    if (!same && !begins_with(file, plan.read_once)) return;
    throw Error(Code::bad_input,
                std::string(key) + " " + in_quotes(file.string()) +
                    (same ? " and standard input are the same file"
                          : " begins with the lines that were read as input: it is their file, or "
                            "a copy"),
                plan.config.place(key),
                "give " + std::string(key) + " another name, or remove that file");
}

std::vector<Used> data_files(const Kernel& kernel) {
    const fs::path& name = kernel.plan().filename;
    std::vector<Used> files;
    if (!kernel.file_per_process())
        files.push_back({{"filename", "filename", name}, Use::replaced});
    for (std::uint64_t rank = 0; kernel.file_per_process() && rank < kernel.ranks(); ++rank)
        files.push_back({{"filename", "the file of rank " + std::to_string(rank),
                          formats::split::file_of_rank(name, static_cast<int>(rank))},
                         Use::replaced});
    return files;
}

std::vector<Used> other_files(const Kernel& kernel) {
    const Plan& plan = kernel.plan();
    std::vector<Used> files{{{"results", "results", plan.results}, Use::appended_to}};
    for (const NamedFile& file : kernel.files_written()) files.push_back({file, Use::replaced});
    if (!plan.input_file.empty())
        files.push_back({{"", "the input file", plan.input_file}, Use::read});
    for (const NamedFile& file : kernel.files_read()) files.push_back({file, Use::read});
    return files;
}

}  // namespace

bool lead_to_one_name(const fs::path& a, const fs::path& b) {
    const Whereabouts one = place_of(a), other = place_of(b);
    return one.name == other.name && same_folder(one, other);
}

void check_file_names(const Kernel& kernel) {
    const Plan& plan = kernel.plan();
    const std::vector<Used> data = data_files(kernel), others = other_files(kernel);
    for (auto other = others.begin(); other != others.end(); ++other) {
        for (const Used& file : data) refuse_clash(plan, file, *other);
        for (auto before = others.begin(); before != other; ++before)
            if (before->use != other->use) refuse_clash(plan, *before, *other);
    }
    for (const auto& files : {data, others})
        for (const Used& used : files)
            if (used.use != Use::read) refuse_own_lines(plan, used.file.key, used.file.file);
}

}  // namespace tailrace::runner
