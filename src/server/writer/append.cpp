// SPDX-License-Identifier: Apache-2.0
#include "server/writer/append.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "formats/file/copy_file.hpp"
#include "formats/open.hpp"
#include "server/writer/how.hpp"

namespace tailrace::server {

namespace {

using core::Object;

std::string size_text(const core::Extent& dim) {
    return dim.unlimited ? "unlimited" : std::to_string(dim.size);
}

/// What two objects of one name differ in; empty: nothing that matters.
std::string difference(const Object& wanted, const Object& found) {
    const auto type = [](const Object& one) {
        return one.text ? std::string("char") : std::string(core::name(one.type));
    };
    if (type(wanted) != type(found))
        return "it is of type " + type(found) + " there, not " + type(wanted);
    if (wanted.dims.size() != found.dims.size())
        return "it has " + std::to_string(found.dims.size()) + " dimensions there, not " +
               std::to_string(wanted.dims.size());
    for (std::size_t d = 0; d < wanted.dims.size(); ++d) {
        const std::string which = "dimension " + std::to_string(d + 1);
        if (size_text(wanted.dims[d]) != size_text(found.dims[d]))
            return which + " is " + size_text(found.dims[d]) + " there, not " +
                   size_text(wanted.dims[d]);
        if (!found.axes.empty() && wanted.axes[d] != found.axes[d])
            return which + " is called " + found.axes[d] + " there, not " + wanted.axes[d];
    }
    return {};
}

class Present {
public:
    Present(const std::filesystem::path& file, const std::filesystem::path& name,
            const FileSpec& spec, core::Phases& phases)
        : x_name(name),
          x_source(formats::open_source(comm::Comm::self(), file, options_of(spec), phases)),
          x_found(x_source->schema().objects) {}

    void require_no_others(const std::vector<Object>& wanted) const {
        for (const Object& object : x_found)
            if (place_of(wanted, object.path) == wanted.size())
                throw formats::cannot_append(x_name, object.path,
                                             "it is in the file, and not in the metadata");
    }
    /// @returns its records
    std::uint64_t require(const Object& wanted, const std::vector<std::byte>& constant) {
        const std::size_t place = place_of(x_found, wanted.path);
        if (place == x_found.size())
            throw formats::cannot_append(x_name, wanted.path, "it is not in the file");
        const Object& found = x_found[place];
        std::string differs = difference(wanted, found);
        if (differs.empty() && !constant.empty() && read(found, place) != constant)
            differs = "it is constant, and has other values there";
        if (!differs.empty()) throw formats::cannot_append(x_name, wanted.path, differs);
        return found.kind == core::Kind::record ? found.dims[0].size : 0;
    }

private:
    static std::size_t place_of(const std::vector<Object>& all, const std::string& path) {
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const Object& one) { return one.path == path; });
        return static_cast<std::size_t>(found - all.begin());
    }
    std::vector<std::byte> read(const Object& object, std::size_t place) {
        std::vector<std::byte> bytes(object.bytes());
        core::Read whole{static_cast<core::ObjectId>(place),
                         {core::Extents(object.dims.size(), 0), object.sizes()},
                         bytes.data(),
                         object.type};
        x_source->read({&whole, 1});
        return bytes;
    }

    const std::filesystem::path& x_name;
    std::unique_ptr<core::Source> x_source;
    std::vector<Object> x_found;
};

}  // namespace

std::vector<std::uint64_t> records_of(const std::filesystem::path& file,
                                      const std::filesystem::path& name, const FileSpec& spec,
                                      core::Phases& phases) {
    Present present(file, name, spec, phases);
    const std::vector<Object> wanted = schema_of(spec).objects;
    present.require_no_others(wanted);
    std::vector<std::uint64_t> records;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        records.push_back(present.require(wanted[i], spec.metadata.variables()[i].constant));
    return records;
}

}  // namespace tailrace::server
