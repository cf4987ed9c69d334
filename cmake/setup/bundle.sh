#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One archive that installs offline, without root: programs, libraries, headers, private copies of
# the libraries below them (MPI apart, which belongs to the machine), Python wheels, install.sh.
#   bundle.sh <build> [folder for the archive, default dist]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?bundle.sh wants a build folder}" && pwd)
mkdir -p "${2:-$root/dist}"
out=$(cd "${2:-$root/dist}" && pwd)
version=$(cat "$root/VERSION")
name=tailrace-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
venv=$root/build/venv/bin
cmake=$venv/cmake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { echo "bundle: $*" >&2; }

tree=$work/$name/tree
private=$tree/lib/tailrace-deps
mkdir -p "$private/lib" "$work/$name/wheels"
say "installing into the tree"
"$cmake" --install "$build" --prefix "$tree" >/dev/null
# GNUInstallDirs may say lib64; the bundle has one layout only.
[ ! -d "$tree/lib64" ] || { cp -a "$tree/lib64/." "$tree/lib/" && rm -rf "$tree/lib64"; }

# The libraries that ours name, and that those name; not the C and C++ runtimes, and not MPI.
needed() { readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
left_to_the_machine() {
    case $1 in
    libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux* | libstdc++.so* | \
        libgcc_s.so* | libmpi* | libopen-* | libpmix* | libfabric* | libucp*) return 0 ;;
    *) return 1 ;;
    esac
}
take() { # take <binary>: its private libraries, and theirs
    local library path
    for library in $(needed "$1"); do
        left_to_the_machine "$library" && continue
        [ ! -e "$private/lib/$library" ] && [ ! -e "$tree/lib/$library" ] || continue
        path=$(ldd "$1" | awk -v name="$library" '$1 == name { print $3 }')
        [ -f "$path" ] || { say "error: $library of $1 is not found"; exit 1; }
        cp -L "$path" "$private/lib/$library"
        take "$path"
    done
}
for binary in "$tree"/bin/* "$tree"/lib/*.so*; do
    [ ! -L "$binary" ] && [ -n "$(needed "$binary")" ] || continue
    take "$binary"
done
# Headers and link names of HDF5 and netCDF-C, for who compiles against our components.
deps=$("$root/cmake/deps/superbuild.sh" --print-prefix)
if [ -f "$deps/.complete" ] && [ -f "$private/lib/libhdf5.so.320" ]; then
    cp -a "$deps/include" "$private/"
    cp -a "$deps"/lib/libnetcdf.so* "$deps"/lib/libhdf5*.so* "$private/lib/"
    take "$private/lib/libnetcdf.so"
fi

for library in "$private"/lib/libpnetcdf.so.*; do # its link name, for the same
    [ ! -f "$library" ] || ln -sf "$(basename "$library")" "$private/lib/libpnetcdf.so"
done

say "paths inside the libraries: relative ones only"
cat >"$work/rpath.cmake" <<'EOF'
foreach(file IN LISTS files)
  file(RPATH_SET FILE "${file}" NEW_RPATH "${rpath}")
endforeach()
EOF
set_rpath() { # set_rpath <rpath> <files...>
    local rpath=$1 list
    shift
    list=$(printf ';%s' "$@")
    "$cmake" -D "files=${list#;}" -D "rpath=$rpath" -P "$work/rpath.cmake"
}
binaries=()
for binary in "$tree"/bin/* "$tree"/lib/*.so*; do
    [ -L "$binary" ] || [ -z "$(needed "$binary")" ] || binaries+=("$binary")
done
# shellcheck disable=SC2016
set_rpath '$ORIGIN/../lib:$ORIGIN/../lib/tailrace-deps/lib' "${binaries[@]}"
sed -i -e 's|^hdf5_libdir=.*|hdf5_libdir=${prefix}/lib/tailrace-deps/lib|' \
    -e 's|[^ ]*/libpnetcdf\.so|${hdf5_libdir}/libpnetcdf.so|' "$tree"/lib/pkgconfig/*.pc

say "wheels of the Python packages that the command imports"
"$venv/python" "$root/cmake/setup/requires.py" >"$work/$name/requires.txt"
"$venv/python" -m pip --quiet --disable-pip-version-check download --only-binary :all: \
    --constraint "$root/cmake/setup/requirements.txt" --dest "$work/$name/wheels" pip \
    -r "$work/$name/requires.txt"

cp "$root/LICENSE" "$root/VERSION" "$work/$name/"
install -m 755 "$root/cmake/setup/install_bundle.sh" "$work/$name/install.sh"
"$venv/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' >"$work/$name/PYTHON"
tar -C "$work" -czf "$out/$name.tar.gz" "$name"
say "$(du -h "$out/$name.tar.gz" | cut -f1) in $out/$name.tar.gz"
say "to install: tar xzf $name.tar.gz && $name/install.sh --prefix DIR"
