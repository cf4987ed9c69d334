# SPDX-License-Identifier: Apache-2.0
"""Spack recipe of Tailrace. Its variants are the CMake options; tests/install holds them equal."""

from spack.package import *


class Tailrace(CMakePackage):
    """Measure, understand, tune and hide the output of parallel programs."""

    license("Apache-2.0")

    # From a checkout: `spack develop --path <checkout> tailrace@0.1.0`, or `spack dev-build`.
    version("0.1.0")

    variant("netcdf", default=True, description="netCDF-C with parallel I/O")
    variant("pnetcdf", default=True, description="PnetCDF")
    variant("plugins", default=True, description="Fill plugins of the kernels (libplugins.so)")
    variant("python", default=True, description="The tailrace command, with its extension module")
    variant("tests", default=False, description="Tests")
    variant("bench", default=False, description="Benchmarks")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.26:", type="build")
    depends_on("mpi@3.1:")
    depends_on("hdf5@1.14:+mpi+hl+subfiling")
    depends_on("netcdf-c@4.9:+mpi", when="+netcdf")
    depends_on("parallel-netcdf@1.12:", when="+pnetcdf")
    depends_on("fmt@9:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("tomlplusplus@3.3:")
    depends_on("xxhash@0.8:")
    depends_on("python@3.11:", when="+python", type=("build", "link", "run"))
    depends_on("py-nanobind@2.4:", when="+python", type="build")
    depends_on("py-typer@0.29:", when="+python", type=("build", "run"))
    depends_on("py-rich@13.7:", when="+python", type=("build", "run"))
    depends_on("py-numpy@1.26:", when="+python", type=("build", "run"))
    depends_on("py-h5py@3.10:", when="+python", type=("build", "run"))
    depends_on("py-netcdf4@1.6.5:", when="+python", type=("build", "run"))
    depends_on("py-xxhash@3.4:", when="+python", type=("build", "run"))
    depends_on("py-msgspec@0.19:", when="+python", type=("build", "run"))
    depends_on("py-pandas@2.1:", when="+python", type=("build", "run"))
    depends_on("py-jinja2@3.1:", when="+python", type=("build", "run"))
    depends_on("py-markupsafe@2.1:", when="+python", type=("build", "run"))
    depends_on("doctest@2.4.9:", when="+tests", type="build")
    depends_on("benchmark@1.7:", when="+bench", type="build")

    conflicts("%gcc@:11", msg="Tailrace is written in C++20: GCC 12 or newer")

    def cmake_args(self):
        roots = []
        if "+python" in self.spec:  # which the command is started with
            python = self.spec["python"].command.path
            roots.append(self.define("Python_EXECUTABLE", python))
        if "+netcdf" in self.spec:
            roots.append(self.define("NETCDF_ROOT", self.spec["netcdf-c"].prefix))
        if "+pnetcdf" in self.spec:
            roots.append(self.define("PNETCDF_ROOT", self.spec["parallel-netcdf"].prefix))
        return [
            *roots,
            self.define("TAILRACE_MPI", True),
            self.define("TAILRACE_HDF5", True),
            self.define("HDF5_ROOT", self.spec["hdf5"].prefix),
            self.define_from_variant("TAILRACE_NETCDF", "netcdf"),
            self.define_from_variant("TAILRACE_PNETCDF", "pnetcdf"),
            self.define_from_variant("TAILRACE_PLUGINS", "plugins"),
            self.define_from_variant("TAILRACE_PYTHON", "python"),
            self.define_from_variant("TAILRACE_TESTS", "tests"),
            self.define_from_variant("TAILRACE_BENCH", "bench"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_command(self):
        """Under `spack install --test=root`."""
        if "+python" in self.spec:
            Executable(self.prefix.bin.tailrace)("--version")
