// SPDX-License-Identifier: Apache-2.0
// tailrace_metadata_*: see tailrace/server.h.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "call.hpp"
#include "core/checked.hpp"
#include "handles.hpp"
#include "server/metadata/collection.hpp"

using namespace tailrace;
using bindings::call;
using bindings::there;

namespace tailrace::bindings {

server::Element element(tailrace_type type) {
    if (type < TAILRACE_INT8 || type > TAILRACE_CHAR)
        throw core::Error(core::Code::bad_input,
                          "there is no type " + std::to_string(static_cast<int>(type)), "",
                          "use one of TAILRACE_INT8 to TAILRACE_CHAR");
    return static_cast<server::Element>(type);
}

}  // namespace tailrace::bindings

namespace {

std::string text(const char* pointer, const char* name) { return &there(pointer, name); }
std::string or_file(const char* variable) { return variable == nullptr ? "" : variable; }

template <class T>
std::vector<T> numbers(const void* values, std::size_t count) {
    std::vector<T> all(count);
    if (count > 0) there(static_cast<const std::byte*>(values), "values");
    if (count > 0) std::memcpy(all.data(), values, count * sizeof(T));
    return all;
}

server::AttributeValue attribute_value(server::Element type, const void* values,
                                       std::size_t count) {
    switch (type) {
        case server::Element::int8:
            return numbers<std::int8_t>(values, count);
        case server::Element::int16:
            return numbers<std::int16_t>(values, count);
        case server::Element::int32:
            return numbers<std::int32_t>(values, count);
        case server::Element::int64:
            return numbers<std::int64_t>(values, count);
        case server::Element::real32:
            return numbers<float>(values, count);
        case server::Element::character: {
            const std::vector<char> all = numbers<char>(values, count);
            return std::string(all.begin(), all.end());
        }
        case server::Element::real64:
            break;
    }
    return numbers<double>(values, count);
}

/// Bytes of another type would be taken for numbers that nobody meant.
void check_type(const server::Variable& one, tailrace_type type) {
    const server::Element given = bindings::element(type);
    if (given == one.type) return;
    throw core::Error(core::Code::bad_input,
                      "it is of type " + std::string(server::name(one.type)) +
                          ", and the values are of type " + std::string(server::name(given)),
                      "variable " + one.name, "pass values of the type of the variable");
}

/// Changes a copy of a variable, and puts it in its place if it is good.
template <class Change>
void change(tailrace_metadata* metadata, const char* variable, const Change& how) {
    server::FileMetadata& all = there(metadata, "metadata").get();
    server::Variable one = all.variables()[all.index_of(text(variable, "variable"))];
    how(one);
    all.modify(one);
}

}  // namespace

int tailrace_metadata_create(tailrace_metadata** metadata) {
    return call([&] { there(metadata, "metadata") = new tailrace_metadata; });
}

void tailrace_metadata_free(tailrace_metadata* metadata) {
    if (metadata != nullptr && metadata->collection == nullptr) delete metadata;
}

int tailrace_metadata_add_dimension(tailrace_metadata* metadata, const char* name,
                                    std::uint64_t size) {
    return call([&] { there(metadata, "metadata").get().add_dimension(text(name, "name"), size); });
}

int tailrace_metadata_add_variable(tailrace_metadata* metadata, const char* name,
                                   tailrace_type type, int ndims, const char* const* dimensions) {
    return call([&] {
        server::Variable one;
        one.name = text(name, "name");
        one.type = bindings::element(type);
        for (int i = 0; i < ndims; ++i)
            one.dimensions.push_back(text((&there(dimensions, "dimensions"))[i], "a dimension"));
        server::FileMetadata& all = there(metadata, "metadata").get();
        const bool is_new = std::none_of(all.variables().begin(), all.variables().end(),
                                         [&](const auto& other) { return other.name == one.name; });
        is_new ? all.add(one) : all.modify(one);
    });
}

int tailrace_metadata_remove_variable(tailrace_metadata* metadata, const char* name) {
    return call([&] { there(metadata, "metadata").get().remove(text(name, "name")); });
}

int tailrace_metadata_set_text(tailrace_metadata* metadata, const char* variable, const char* name,
                               const char* value) {
    return call([&] {
        there(metadata, "metadata")
            .get()
            .set_attribute(or_file(variable), {text(name, "name"), text(value, "text")});
    });
}

int tailrace_metadata_set_numbers(tailrace_metadata* metadata, const char* variable,
                                  const char* name, tailrace_type type, std::size_t count,
                                  const void* values) {
    return call([&] {
        there(metadata, "metadata")
            .get()
            .set_attribute(
                or_file(variable),
                {text(name, "name"), attribute_value(bindings::element(type), values, count)});
    });
}

int tailrace_metadata_remove_attribute(tailrace_metadata* metadata, const char* variable,
                                       const char* name) {
    return call([&] {
        there(metadata, "metadata").get().remove_attribute(or_file(variable), text(name, "name"));
    });
}

int tailrace_metadata_set_fill(tailrace_metadata* metadata, const char* variable,
                               tailrace_type type, const void* value) {
    return call([&] {
        there(metadata, "metadata")
            .get()
            .set_attribute(text(variable, "variable"),
                           {"_FillValue",
                            attribute_value(bindings::element(type),
                                            &there(static_cast<const char*>(value), "value"), 1)});
    });
}

int tailrace_metadata_set_constant(tailrace_metadata* metadata, const char* variable,
                                   tailrace_type type, std::size_t count, const void* values) {
    return call([&] {
        change(metadata, variable, [&](server::Variable& one) {
            check_type(one, type);
            const auto* begin = &there(static_cast<const std::byte*>(values), "values");
            const core::Extents extents = there(metadata, "metadata").get().record_extents(one);
            if (const auto all = core::checked_product(extents, one.name); count != all)
                throw core::Error(core::Code::bad_input,
                                  std::to_string(count) + " values were given, and it has " +
                                      std::to_string(all) + " elements",
                                  "variable " + one.name, "give all of them");
            one.constant.assign(begin, begin + count * server::size_of(one.type));
        });
    });
}

int tailrace_metadata_set_storage(tailrace_metadata* metadata, const char* variable,
                                  const char* storage) {
    return call([&] {
        change(metadata, variable, [&](server::Variable& one) {
            one.storage = server::storage_of(text(storage, "storage"));
        });
    });
}
