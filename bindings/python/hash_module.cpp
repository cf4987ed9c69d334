// SPDX-License-Identifier: Apache-2.0
#include "core/hash.hpp"

#include <nanobind/stl/string.h>

#include "modules.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tailrace::python {

namespace {

/// The memory of any object with contiguous bytes, as long as this lives.
class View {
public:
    explicit View(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &x_buffer, PyBUF_SIMPLE) != 0)
            throw nb::python_error();
    }
    ~View() { PyBuffer_Release(&x_buffer); }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    [[nodiscard]] std::span<const std::byte> bytes() const {
        return {static_cast<const std::byte*>(x_buffer.buf),
                static_cast<std::size_t>(x_buffer.len)};
    }

private:
    Py_buffer x_buffer{};
};

void update(core::Hash& hash, nb::handle object) {
    const View view(object);
    nb::gil_scoped_release released;
    hash.update(view.bytes());
}

}  // namespace

void add_hash(nb::module_& module) {
    nb::class_<core::Hash>(module, "Hash", "XXH3-128 over a stream of bytes.")
        .def(nb::init<>())
        .def("update", &update, "data"_a, "Takes the next bytes: any contiguous buffer.")
        .def("hexdigest", &core::Hash::hex, "32 hexadecimal digits, as xxhsum -H2 prints.");
}

}  // namespace tailrace::python
