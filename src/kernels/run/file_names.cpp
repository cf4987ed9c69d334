// SPDX-License-Identifier: Apache-2.0
// The files that a run writes against those that it reads, and against each other.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "formats/part_file.hpp"
#include "kernels/run/run.hpp"

namespace tailrace::kernels::run {

namespace fs = std::filesystem;
using core::Code;
using core::Error;
using core::in_quotes;

namespace {

/// The path without links and dots, as far as it exists.
fs::path resolved(const fs::path& path) {
    const fs::path file = formats::follow_links(path);
    std::error_code failed;
    const fs::path folder = fs::weakly_canonical(fs::absolute(formats::folder_of(file)), failed);
    return failed ? file.lexically_normal() : folder / file.filename();
}

bool is_same(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

bool same_inode(const fs::path& a, const fs::path& b) {
    struct stat one {};
    struct stat other {};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && is_same(one, other);
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

enum class Clash { none, same, derived };

Clash clash_of(const fs::path& output, const fs::path& file) {
    const fs::path one = resolved(output), other = resolved(file);
    if (one == other || same_inode(one, other)) return Clash::same;
    const bool beside = one.parent_path() == other.parent_path();
    return beside && is_derived(one.filename().string(), other.filename().string()) ? Clash::derived
                                                                                    : Clash::none;
}

/// @param key  for the place of the message; may have no value
void refuse_clash(const Plan& plan, const char* key, const std::string& what,
                  const fs::path& file) {
    const Clash clash = clash_of(plan.filename, file);
    if (clash == Clash::none) return;
    const std::string output = in_quotes(plan.filename.string());
    const std::string text = clash == Clash::same
                                 ? what + " " + in_quotes(file.string()) + " and filename " +
                                       output + " are the same file"
                                 : what + " " + in_quotes(file.string()) +
                                       " has a name that the run makes beside " + output;
    throw Error(Code::bad_input, text, plan.config.place(key), "give one of them another name");
}

bool begins_with(const fs::path& path, std::string_view text) {
    struct stat there {};
    if (::stat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return false;
    std::string found(text.size(), '\0');
    std::ifstream file(path, std::ios::binary);
    return file.read(found.data(), static_cast<std::streamsize>(found.size())) && found == text;
}

bool is_standard_input(const fs::path& path) {
    struct stat there {};
    struct stat input {};
    return ::fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode) &&
           ::stat(path.c_str(), &there) == 0 && is_same(there, input);
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

}  // namespace

void check_file_names(const Kernel& kernel) {
    const Plan& plan = kernel.plan();
    refuse_clash(plan, "results", "results", plan.results);
    refuse_own_lines(plan, "filename", plan.filename);
    refuse_own_lines(plan, "results", plan.results);
    std::vector<FileRead> reads = kernel.files_read();
    if (!plan.input_file.empty())
        reads.insert(reads.begin(), {"filename", "the input file", plan.input_file});
    for (const FileRead& read : reads) {
        refuse_clash(plan, read.key, read.what, read.file);
        if (clash_of(plan.results, read.file) == Clash::same)
            throw Error(Code::bad_input,
                        "results " + in_quotes(plan.results.string()) + " and " + read.what + " " +
                            in_quotes(read.file.string()) + " are the same file",
                        plan.config.place("results"), "give the results another name");
    }
}

}  // namespace tailrace::kernels::run
