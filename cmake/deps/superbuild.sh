#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds HDF5 (parallel, zlib, HL, subfiling, direct I/O) and netCDF-C (parallel, with PnetCDF where
# there is one for this MPI) from the sources that cargo fetches by cmake/deps/cargo/Cargo.lock, once
# per set of inputs, and prints the prefix. With --hdf5 1.14 that HDF5 alone, for tests.
#
#   superbuild.sh [--mpi default|mpich] [--hdf5 2.2|1.14] [--print-prefix]
#
# Prefix: ${TAILRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tailrace}/deps-<hash of the inputs>.
# It is complete if and only if it holds the file .complete, which is written last: an interrupted
# build is swept away and started anew. Concurrent callers wait for one another (flock).
# Only the prefix goes to standard output; progress goes to standard error.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
netcdf_crate=netcdf-src-0.5.3 # netCDF-C 4.10.1

flavour=default
series=2.2
print_only=no
while [ $# -gt 0 ]; do
    case $1 in
    --mpi) flavour=${2:?--mpi wants default or mpich}; shift ;;
    --hdf5) series=${2:?--hdf5 wants 2.2 or 1.14}; shift ;;
    --print-prefix) print_only=yes ;;
    *) echo "superbuild: error: unknown argument \"$1\"" >&2; exit 2 ;;
    esac
    shift
done

say() { echo "superbuild: $*" >&2; }
die() { echo "superbuild: error: $1" >&2; echo "       hint: $2" >&2; exit 1; }

case $series in
2.2) hdf5="HDF5 2.2.0" hdf5_crate=hdf5-metno-src-0.10.4 manifest=$here/cargo ;;
1.14) hdf5="HDF5 1.14.6" hdf5_crate=hdf5-metno-src-0.9.5 manifest=$here/cargo_hdf5_1_14 ;;
*) die "--hdf5 \"$series\" is not known" "use --hdf5 2.2 or --hdf5 1.14" ;;
esac
case $flavour in
default) mpicc=${MPICC:-mpicc} with_pnetcdf=yes ;;
# Debian has no PnetCDF for MPICH, and linking the Open MPI one fails at run time only.
mpich) mpicc=${MPICC:-mpicc.mpich} with_pnetcdf=no ;;
*) die "--mpi \"$flavour\" is not known" "use --mpi default or --mpi mpich" ;;
esac
cc=${CC:-cc}
command -v "$mpicc" >/dev/null || die "no MPI compiler \"$mpicc\"" "run: make setup"

mpi_description() {
    "$mpicc" -show
    if [ "$flavour" = mpich ]; then mpichversion.mpich 2>/dev/null || mpichversion; else ompi_info --version 2>/dev/null || true; fi
}
pnetcdf_version() {
    { [ $with_pnetcdf = yes ] && pnetcdf-config --version 2>/dev/null; } || echo "no PnetCDF"
}

inputs() {
    sha256sum "$manifest/Cargo.toml" "$manifest/Cargo.lock" "${BASH_SOURCE[0]}" \
        "$root/cmake/setup/requirements-build.txt" | cut -d' ' -f1
    echo "flavour $flavour"
    uname -sm
    "$cc" -dM -E -x c /dev/null | grep __VERSION__ # not the name it was called by
    mpi_description
    pnetcdf_version
}

cache=${TAILRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tailrace}
description=$(inputs)
hash=$(printf '%s' "$description" | sha256sum | cut -c1-16)
prefix=$cache/deps-$hash
if [ $print_only = yes ] || [ -f "$prefix/.complete" ]; then
    echo "$prefix"
    exit 0
fi

# The wrapper calls the same compiler that HDF5 is built with.
export OMPI_CC="$cc" MPICH_CC="$cc"
mkdir -p "$cache"
exec 9>"$prefix.lock"
flock -n 9 || { say "another build of $prefix is running; waiting for it"; flock 9; }
if [ -f "$prefix/.complete" ]; then
    echo "$prefix"
    exit 0
fi

tools=${TAILRACE_TOOLS_BIN:-$root/build/venv/bin}
cmake=$tools/cmake
[ -x "$cmake" ] || cmake=$(command -v cmake) || die "no cmake" "run: make setup"
"$cmake" --version | head -n 1 | awk '{ split($3, v, "."); exit !(v[1] > 3 || v[1] == 3 && v[2] >= 26) }' ||
    die "$cmake is older than 3.26" "run: make setup (it takes cmake from PyPI)"
ninja=$tools/ninja
[ -x "$ninja" ] || ninja=$(command -v ninja) || die "no ninja" "run: make setup"
command -v cargo >/dev/null || die "no cargo, which fetches the sources" "run: make setup"
cargo --version | awk '{ split($2, v, "."); exit !(v[1] > 1 || v[1] == 1 && v[2] >= 85) }' ||
    die "$(cargo --version) is older than 1.85" "on Debian 12: apt-get install cargo-web"

rm -rf "$prefix"
work=$(mktemp -d "$cache/work-$hash.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
log=$prefix.log
: >"$log"
jobs=${TAILRACE_JOBS:-$(nproc)}

step() { # step <what> <command...>: one line for a person, everything else into the log
    local what=$1 start=$SECONDS
    shift
    say "$what"
    if ! "$@" >>"$log" 2>&1 9>&-; then
        tail -n 40 "$log" >&2
        die "$what failed" "the whole log is $log"
    fi
    say "$what: $((SECONDS - start)) s"
}

configure() { # configure <source> <build> <options...>
    local source=$1 build=$2
    shift 2
    # $ORIGIN: the libraries find each other wherever the prefix is copied to (make bundle).
    # shellcheck disable=SC2016
    "$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_MAKE_PROGRAM="$ninja" \
        -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
        -DMPI_C_COMPILER="$(command -v "$mpicc")" \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_INSTALL_RPATH='$ORIGIN/../lib' -DCMAKE_C_FLAGS=-w "$@"
}
build() { "$cmake" --build "$1" --parallel "$jobs" && "$cmake" --install "$1"; }

step "fetching sources" cargo vendor --locked --versioned-dirs \
    --manifest-path "$manifest/Cargo.toml" "$work/src"

# Zlib has another name before HDF5 2.
step "configuring $hdf5" configure "$work/src/$hdf5_crate/ext/hdf5" "$work/hdf5" \
    -DCMAKE_C_COMPILER="$cc" -DBUILD_STATIC_LIBS=OFF -DHDF5_ENABLE_PARALLEL=ON \
    -DHDF5_ENABLE_SUBFILING_VFD=ON -DHDF5_ENABLE_DIRECT_VFD=ON \
    -DHDF5_ENABLE_ZLIB_SUPPORT=ON -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_BUILD_HL_LIB=ON \
    -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF
step "building $hdf5" build "$work/hdf5"
for driver in SUBFILING_VFD DIRECT; do
    grep -q "define H5_HAVE_$driver 1" "$prefix/include/H5pubconf.h" ||
        die "this HDF5 has no H5_HAVE_$driver" "see $log"
done

netcdf() { # for the library itself
    source=$work/src/$netcdf_crate/source
    # Two templates of tests that the crate leaves out, and that its CMakeLists.txt configures anyway.
    for template in h5_test/run_par_tests.sh.in nc_test/run_pnetcdf_tests.sh.in; do
        mkdir -p "$source/${template%/*}" && : >"$source/$template"
    done
    pnetcdf=OFF
    [ "$(pnetcdf_version)" = "no PnetCDF" ] || pnetcdf=ON
    # Some of its folders include mpi.h and get no include path for it but the compiler's own.
    step "configuring netCDF-C 4.10.1" configure "$source" "$work/netcdf" \
        -DCMAKE_C_COMPILER="$(command -v "$mpicc")" -DCMAKE_PREFIX_PATH="$prefix" -DHDF5_ROOT="$prefix" \
        -DNETCDF_ENABLE_HDF5=ON -DNETCDF_ENABLE_PARALLEL4=ON -DNETCDF_ENABLE_PNETCDF=$pnetcdf \
        -DNETCDF_ENABLE_DAP=OFF -DNETCDF_ENABLE_REMOTE_FUNCTIONALITY=OFF -DNETCDF_ENABLE_NCZARR=OFF \
        -DNETCDF_ENABLE_LIBXML2=OFF -DNETCDF_ENABLE_PLUGINS=OFF -DNETCDF_ENABLE_TESTS=OFF \
        -DNETCDF_ENABLE_EXAMPLES=OFF -DNETCDF_BUILD_UTILITIES=OFF
    step "building netCDF-C 4.10.1" build "$work/netcdf"
    "$prefix/bin/nc-config" --has-parallel4 2>/dev/null | grep -q yes ||
        die "this netCDF-C is not parallel" "see $log"
}
[ "$series" != 2.2 ] || netcdf

printf '%s\n' "$description" >"$prefix/.inputs"
sync -f "$prefix" 2>/dev/null || true
touch "$prefix/.complete"
say "complete: $prefix"
echo "$prefix"
