// SPDX-License-Identifier: Apache-2.0
#include "runner/places.hpp"

#include "formats/file/text_file.hpp"
#include "runner/run.hpp"

namespace tailrace::runner {

namespace fs = std::filesystem;
using core::Error;

namespace {

void make_folder(const Plan& plan) {
    std::error_code failed;
    if (!plan.folder.empty()) fs::create_directories(plan.folder, failed);
    if (failed && !fs::is_directory(plan.folder))
        throw Error(core::code_of_errno(failed.value()),
                    "the folder cannot be made: " + core::describe_errno(failed.value()),
                    plan.folder.string(), "choose another directory");
}

/// What `work` says about the place of a file, at the key that named it.
template <class Work>
void for_each_place(const Kernel& kernel, Work&& work) {
    for (const NamedFile& named : kernel.files_written()) {
        try {
            work(formats::follow_links(where_it_can_be_looked_at(kernel.plan(), named.file)));
        } catch (const Error& error) {
            throw kernel.plan().config.error(
                named.key,
                named.what + " " + core::in_quotes(named.file.string()) + ": " + error.message(),
                error.remedy(), error.code());
        }
    }
}

}  // namespace

fs::path where_it_can_be_looked_at(const Plan& plan, const fs::path& file) {
    fs::path folder = formats::folder_of(file);
    std::error_code ignored;
    if (plan.folder.empty() || !lead_to_one_name(folder / ".", plan.folder / ".") ||
        fs::exists(folder, ignored))
        return file;
    while (!fs::exists(folder, ignored) && folder.has_parent_path() &&
           folder != folder.parent_path())
        folder = folder.parent_path();
    if (!fs::exists(folder, ignored)) folder = ".";
    return folder / file.filename();
}

void check_places(const Kernel& kernel) {
    for_each_place(kernel, [](const fs::path& path) {
        formats::check_target(path, core::Existing::replace);
        formats::check_left_over(formats::part_of(path), formats::LeftOver::refuse);
    });
}

void make_places(const Kernel& kernel) {
    make_folder(kernel.plan());
    for_each_place(kernel, [](const fs::path& path) { const formats::TextFile tried(path); });
}

void write_side_file(const SideFile& side) { formats::TextFile(side.path).publish(side.text); }

}  // namespace tailrace::runner
