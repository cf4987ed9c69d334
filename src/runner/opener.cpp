// SPDX-License-Identifier: Apache-2.0
#include "runner/opener.hpp"

#include <utility>

#include "formats/open.hpp"
#include "formats/split/folder.hpp"
#include "formats/split/per_process.hpp"

namespace tailrace::runner {

namespace {

class OneFile : public Opener {
public:
    explicit OneFile(const formats::Options& options) : x_options(options) {}
    [[nodiscard]] std::string name() const override { return x_options.facts().format; }
    void check_schema(const core::Schema& schema) const override {
        formats::check_schema(x_options, schema);
    }
    void check(const comm::Comm& comm, const core::Target& target, int ranks) const override {
        formats::check_sink(comm, target, x_options, ranks);
    }
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const comm::Comm& comm,
                                                   const core::Target& target,
                                                   core::Phases& phases) const override {
        return formats::open_sink(comm, target, x_options, phases);
    }
    [[nodiscard]] std::unique_ptr<core::Source> source(const comm::Comm& comm,
                                                       const std::filesystem::path& path,
                                                       core::Phases& phases) const override {
        return formats::open_source(comm, path, x_options, phases);
    }

protected:
    const formats::Options& x_options;
};

class FilePerProcess final : public OneFile {
public:
    using OneFile::OneFile;
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const comm::Comm& comm,
                                                   const core::Target& target,
                                                   core::Phases& phases) const override {
        return formats::split::open_sink_per_process(comm, target, x_options, phases);
    }
    [[nodiscard]] std::unique_ptr<core::Source> source(const comm::Comm& comm,
                                                       const std::filesystem::path& path,
                                                       core::Phases& phases) const override {
        return formats::split::open_source_per_process(comm, path, x_options, phases);
    }
};

class Folder final : public Opener {
public:
    explicit Folder(std::string known_by) : x_options{std::move(known_by), ""} {}
    [[nodiscard]] std::string name() const override { return "a folder of files"; }
    void check_schema(const core::Schema&) const override {}
    void check(const comm::Comm& comm, const core::Target& target, int) const override {
        formats::split::check_folder(comm, target, x_options);
    }
    [[nodiscard]] std::unique_ptr<core::Sink> sink(const comm::Comm& comm,
                                                   const core::Target& target,
                                                   core::Phases& phases) const override {
        return formats::split::open_folder(comm, target, x_options, phases);
    }
    [[nodiscard]] std::unique_ptr<core::Source> source(const comm::Comm& comm,
                                                       const std::filesystem::path& path,
                                                       core::Phases& phases) const override {
        return formats::split::open_folder_source(comm, path, phases);
    }

private:
    formats::split::FolderOptions x_options;
};

}  // namespace

std::unique_ptr<Opener> one_file(const formats::Options& options) {
    return std::make_unique<OneFile>(options);
}

std::unique_ptr<Opener> file_per_process(const formats::Options& options) {
    return std::make_unique<FilePerProcess>(options);
}

std::unique_ptr<Opener> folder(std::string known_by) {
    return std::make_unique<Folder>(std::move(known_by));
}

}  // namespace tailrace::runner
