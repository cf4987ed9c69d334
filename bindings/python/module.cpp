// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/error.hpp"
#include "core/version_info.hpp"
#include "fill_block.hpp"
#include "modules.hpp"

namespace nb = nanobind;
using namespace tailrace::python;

namespace {

using Values = nb::ndarray<float, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void fill_block_into(std::uintptr_t function, int rank, const Triple& system_size,
                     const Triple& block_size, const Triple& block_number, const Triple& offset,
                     const std::vector<std::string>& arguments, Values values) {
    const Triple count{values.shape(0), values.shape(1), values.shape(2)};
    const PluginCall call{rank, system_size, block_size, block_number, arguments};
    float* const data = values.data();
    nb::gil_scoped_release released;
    fill_block(function, call, offset, count, data);
}

/// A ValueError that carries the parts of the text too.
void raise(const tailrace::core::Error& error) {
    const nb::object value = nb::borrow(PyExc_ValueError)(error.what());
    value.attr("what") = error.message();
    value.attr("where") = error.where();
    value.attr("hint") = error.remedy();
    value.attr("exit_code") = tailrace::core::exit_code(error.code());
    PyErr_SetObject(PyExc_ValueError, value.ptr());
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "Compiled helper of the tailrace package";
    module.attr("version") = TAILRACE_VERSION_TEXT;
    module.attr("commit") = TAILRACE_COMMIT_TEXT;
    // Within this extension Errors only come from arguments.
    nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
        try {
            std::rethrow_exception(raised);
        } catch (const tailrace::core::Error& error) {
            raise(error);
        }
    });
    add_statistics(module);
#ifdef TAILRACE_HAVE_INTENT
    add_intent(module);
    add_plan(module);
#endif
#ifdef TAILRACE_HAVE_XXHASH
    add_hash(module);
#endif
    module.def("fill_block", &fill_block_into, nb::arg("function"), nb::arg("rank"),
               nb::arg("system_size"), nb::arg("block_size"), nb::arg("block_number"),
               nb::arg("offset"), nb::arg("arguments"), nb::arg("values").noconvert(),
               "Writes a fill plugin's values for the box of `values`' shape that begins at "
               "`offset` within a rank's block; `function` is the plugin's address.");
}
