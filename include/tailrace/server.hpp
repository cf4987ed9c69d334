// SPDX-License-Identifier: Apache-2.0
/// @file
/// The I/O server in C++20: tailrace/server.h, where each call is told of, with types, lifetimes
/// and exceptions. Library: -ltailrace_server. Include mpi.h before it.
///
///     auto server = tailrace::io::Server::start(MPI_COMM_WORLD, argc, argv);
///     if (server.is_model()) {
///         ...metadata, collections...
///         for (step...) {
///             server.put(id, "T", field, {first_row, 0}, {rows, columns});
///             server.end_step(id, hours);
///         }
///         server.finalize();
///     }
#pragma once

#include <tailrace/server.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tailrace::io {

/// A call that failed, and why.
class Error : public std::runtime_error {
public:
    explicit Error(int code, const std::string& text = tailrace_error_text())
        : std::runtime_error(text), x_code(code) {}
    /// TAILRACE_INVALID and so on.
    [[nodiscard]] int code() const noexcept { return x_code; }

private:
    int x_code;
};

/// Numbers of the six types that variables and attributes have.
template <class T>
concept Number = (std::floating_point<T> && (sizeof(T) == 4 || sizeof(T) == 8)) ||
                 (std::signed_integral<T> && sizeof(T) <= 8 && !std::same_as<T, char>);

/// What variables hold: numbers, or single characters.
template <class T>
concept Element = Number<T> || std::same_as<T, char>;

/// Many of them, side by side: a vector, an array, a span, of characters also a string.
template <class T>
concept Elements = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> &&
    Element<std::remove_cv_t<std::ranges::range_value_t<T>>>;
template <class T>
concept Numbers = Elements<T> && Number<std::remove_cv_t<std::ranges::range_value_t<T>>>;

/// The type of an element, as tailrace/server.h calls it.
template <Element T>
inline constexpr tailrace_type type_of = std::same_as<T, char> ? TAILRACE_CHAR
                                         : std::floating_point<T>
                                             ? (sizeof(T) == 4 ? TAILRACE_REAL32 : TAILRACE_REAL64)
                                         : sizeof(T) == 1 ? TAILRACE_INT8
                                         : sizeof(T) == 2 ? TAILRACE_INT16
                                         : sizeof(T) == 4 ? TAILRACE_INT32
                                                          : TAILRACE_INT64;
/// The same of what a container holds.
template <Elements T>
inline constexpr tailrace_type element_of =
    type_of<std::remove_cv_t<std::ranges::range_value_t<T>>>;

using Extents = std::vector<std::uint64_t>;  ///< the slowest dimension first

namespace detail {

inline void must(int code) {
    if (code != TAILRACE_OK) throw Error(code);
}
/// For C, where NULL is nothing.
inline const char* or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

}  // namespace detail

/// What a file holds.
class Metadata {
public:
    Metadata() { detail::must(tailrace_metadata_create(&x_handle)); }
    ~Metadata() { tailrace_metadata_free(x_handle); }  // not those of a collection
    Metadata(Metadata&& other) noexcept : x_handle(std::exchange(other.x_handle, nullptr)) {}
    Metadata& operator=(Metadata&& other) noexcept {
        std::swap(x_handle, other.x_handle);
        return *this;
    }

    /// Adds a dimension.  [local, as all below]
    /// @param size  0: it grows with each record
    /// @throws Error  as all below do
    void add_dimension(const std::string& name, std::uint64_t size) {
        detail::must(tailrace_metadata_add_dimension(x_handle, name.c_str(), size));
    }
    /// Adds a variable, or replaces the one of this name.
    /// @param dimensions  their names, the slowest first
    void add_variable(const std::string& name, tailrace_type type,
                      const std::vector<std::string>& dimensions = {}) {
        std::vector<const char*> names;
        for (const std::string& one : dimensions) names.push_back(one.c_str());
        detail::must(tailrace_metadata_add_variable(x_handle, name.c_str(), type,
                                                    static_cast<int>(names.size()), names.data()));
    }
    template <Element T>
    void add_variable(const std::string& name, const std::vector<std::string>& dimensions = {}) {
        add_variable(name, type_of<T>, dimensions);
    }
    /// Takes a variable out.
    void remove_variable(const std::string& name) {
        detail::must(tailrace_metadata_remove_variable(x_handle, name.c_str()));
    }

    /// Adds an attribute, or gives it another value.
    /// @param variable  empty: an attribute of the file
    void set_attribute(const std::string& name, const std::string& text,
                       const std::string& variable = {}) {
        detail::must(tailrace_metadata_set_text(x_handle, detail::or_null(variable), name.c_str(),
                                                text.c_str()));
    }
    template <Number T>
    void set_attribute(const std::string& name, T value, const std::string& variable = {}) {
        set_attribute(name, std::span<const T>(&value, 1), variable);
    }
    template <Numbers Values>
    void set_attribute(const std::string& name, const Values& values,
                       const std::string& variable = {}) {
        detail::must(tailrace_metadata_set_numbers(
            x_handle, detail::or_null(variable), name.c_str(), element_of<Values>,
            std::ranges::size(values), std::ranges::data(values)));
    }
    /// Takes an attribute out.
    void remove_attribute(const std::string& name, const std::string& variable = {}) {
        detail::must(
            tailrace_metadata_remove_attribute(x_handle, detail::or_null(variable), name.c_str()));
    }

    /// The value of elements that nobody puts.
    /// @param value  of the type of the variable
    template <Element T>
    void set_fill(const std::string& variable, T value) {
        detail::must(tailrace_metadata_set_fill(x_handle, variable.c_str(), type_of<T>, &value));
    }
    /// All elements of a variable without records, such as a coordinate: no put is needed.
    /// @param values  all of them, of the type of the variable
    template <Elements Values>
    void set_constant(const std::string& variable, const Values& values) {
        detail::must(tailrace_metadata_set_constant(x_handle, variable.c_str(), element_of<Values>,
                                                    std::ranges::size(values),
                                                    std::ranges::data(values)));
    }
    /// How it is stored, as tailrace_metadata_set_storage has it.
    void set_storage(const std::string& variable, const std::string& storage) {
        detail::must(tailrace_metadata_set_storage(x_handle, variable.c_str(), storage.c_str()));
    }

    /// For calls of tailrace/server.h.
    [[nodiscard]] tailrace_metadata* handle() const noexcept { return x_handle; }

private:
    friend class Server;
    explicit Metadata(tailrace_metadata* of_a_collection) : x_handle(of_a_collection) {}

    tailrace_metadata* x_handle = nullptr;
};

/// Which part of which file is put.
struct Place {
    std::optional<std::uint64_t> record{};  ///< unset: the present one
    std::string file{};                     ///< empty: that of the date, or the one that is open
};

/// The I/O server, as a rank has it.
class Server {
public:
    /// Shares out the ranks of a communicator. A rank that serves returns when the model has ended.
    /// [collective]
    /// @param fortran_comm  the handle that MPI_Comm_c2f gives
    /// @throws Error  as all below do
    [[nodiscard]] static Server start_f(int fortran_comm, int argc, const char* const* argv) {
        Server server;
        int model = 0;
        detail::must(tailrace_server_start_f(fortran_comm, argc, argv, &server.x_handle, &model));
        server.x_is_model = model != 0;
        return server;
    }
    /// The ranks of the model, as a Fortran handle.  [local]
    [[nodiscard]] int comm_f() const {
        int comm = 0;
        detail::must(tailrace_server_comm_f(x_handle, &comm));
        return comm;
    }
#ifdef MPI_VERSION
    /// As start_f, with a handle of C.  [collective]
    [[nodiscard]] static Server start(MPI_Comm comm, int argc, const char* const* argv) {
        return start_f(static_cast<int>(MPI_Comm_c2f(comm)), argc, argv);
    }
    /// The ranks of the model.  [local]
    [[nodiscard]] MPI_Comm comm() const { return MPI_Comm_f2c(static_cast<MPI_Fint>(comm_f())); }
#endif
    /// Before MPI_Finalize. Without finalize() open files are given up.  [collective]
    ~Server() { tailrace_server_free(x_handle); }
    Server(Server&& other) noexcept
        : x_handle(std::exchange(other.x_handle, nullptr)), x_is_model(other.x_is_model) {}
    Server& operator=(Server&& other) noexcept {
        std::swap(x_handle, other.x_handle);
        std::swap(x_is_model, other.x_is_model);
        return *this;
    }

    [[nodiscard]] bool is_model() const noexcept { return x_is_model; }  ///< [local]

    /// A series of files with the same content.  [collective]
    /// @returns its number
    [[nodiscard]] std::int64_t add_collection(const std::string& name, const Metadata& metadata,
                                              const std::string& options = {}) {
        std::int64_t id = 0;
        detail::must(tailrace_server_add_collection(x_handle, name.c_str(), metadata.handle(),
                                                    options.c_str(), &id));
        return id;
    }
    /// Those of a collection, to edit them; they live as long as the server.
    /// [local, the same on all ranks]
    [[nodiscard]] Metadata metadata(std::int64_t id) {
        tailrace_metadata* own = nullptr;
        detail::must(tailrace_server_metadata(x_handle, id, &own));
        return Metadata(own);
    }
    /// Names the file by the collection's template.  [local, the same on all ranks]
    void set_date(std::int64_t id, std::int64_t year, int month, int day, int hour = 0,
                  int minute = 0, int second = 0) {
        detail::must(
            tailrace_server_set_date(x_handle, id, year, month, day, hour, minute, second));
    }

    /// A block of a variable.  [collective]
    /// @param values  a vector, an array or a span; of no elements: this rank has nothing
    template <Elements Values>
    void put(std::int64_t id, const std::string& variable, const Values& values,
             const Extents& start, const Extents& count, const Place& place = {}) {
        put_by(tailrace_server_put, id, variable, values, start, count, place);
    }
    /// The same, if all ranks have the same.  [collective]
    template <Elements Values>
    void put_replicated(std::int64_t id, const std::string& variable, const Values& values,
                        const Extents& start, const Extents& count, const Place& place = {}) {
        put_by(tailrace_server_put_replicated, id, variable, values, start, count, place);
    }
    /// Ends a step; what is put next belongs to the next record.  [collective]
    void end_step(std::int64_t id, std::optional<double> time = {}) {
        detail::must(tailrace_server_end_step(x_handle, id, time ? &*time : nullptr));
    }
    /// The file gets its final name, if all went well.  [collective]
    void close_file(std::int64_t id) { detail::must(tailrace_server_close_file(x_handle, id)); }
    /// The same as close_file.  [collective]
    void flush(std::int64_t id) { detail::must(tailrace_server_flush(x_handle, id)); }
    /// Whether all went well so far.  [local]
    /// @throws Error  the first failure that this rank has heard of
    void status() { detail::must(tailrace_server_status(x_handle)); }
    /// Flushes all, and lets the servers go.  [collective]
    void finalize() { detail::must(tailrace_server_finalize(x_handle)); }

    /// For calls of tailrace/server.h.
    [[nodiscard]] tailrace_server* handle() const noexcept { return x_handle; }

private:
    Server() = default;
    template <class Values>
    void put_by(decltype(tailrace_server_put)* function, std::int64_t id,
                const std::string& variable, const Values& values, const Extents& start,
                const Extents& count, const Place& place) {
        std::uint64_t elements = 1;
        for (const std::uint64_t extent : count) elements *= extent;
        const bool nothing = std::ranges::size(values) == 0 && count.empty();
        if (nothing) elements = 0;  // of a variable that has one number in a record
        if (start.size() != count.size() || elements != std::ranges::size(values))
            throw Error(TAILRACE_INVALID,
                        "variable " + variable + ": start has " + std::to_string(start.size()) +
                            " numbers, count " + std::to_string(count.size()) + " for " +
                            std::to_string(elements) + " elements, and there are " +
                            std::to_string(std::ranges::size(values)) + " values. Let them agree");
        detail::must(function(x_handle, id, detail::or_null(place.file), variable.c_str(),
                              element_of<Values>, static_cast<int>(count.size()), start.data(),
                              count.data(), elements == 0 ? nullptr : std::ranges::data(values),
                              place.record ? static_cast<std::int64_t>(*place.record) : -1));
    }

    tailrace_server* x_handle = nullptr;
    bool x_is_model = false;
};

}  // namespace tailrace::io
