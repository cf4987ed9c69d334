#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# System packages: nothing to do if all are there. On Debian and its kin root has the missing ones
# installed. Who is not root is asked only for what nothing else stands in for, by the exact command,
# which ends with 1. On another system what is missing is named, and cmake decides.
#   system.sh <lists beside this file...>
set -eu
here=$(cd "$(dirname "$0")" && pwd)
say() { echo "setup: $*" >&2; }
: "${1:?system.sh wants lists of packages}"

distribution() { # distribution <field of os-release>
    sed -n "s/^$1=//p" "${TAILRACE_OS_RELEASE:-/etc/os-release}" 2>/dev/null | tr -d '"' | head -n 1
}
stood_in() { # stood_in <what may stand in>
    case $1 in
    optional) ;;
    '<'*) echo "#include $1" | ${CXX:-c++} -std=c++17 -E -x c++ - >/dev/null 2>&1 ;;
    python)
        "${PYTHON:-python3}" -c 'import ensurepip, pathlib, sys, sysconfig, venv
header = pathlib.Path(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.version_info < (3, 11) or not header.exists())' 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}
# cargo fetches the sources of HDF5 and netCDF-C; those packages want 1.85 or newer. Debian 12 calls
# it cargo-web, Ubuntu has it through rustup.
enough_cargo() {
    command -v cargo >/dev/null &&
        cargo --version 2>/dev/null |
        awk 'BEGIN { old = 1 } { split($2, v, "."); old = !(v[1] > 1 || v[1] == 1 && v[2] >= 85) } END { exit old }'
}
cargo_package() {
    case $(distribution ID)-$(distribution VERSION_ID) in
    debian-12) echo cargo-web ;;
    ubuntu-*) echo rustup ;;
    *) echo cargo ;;
    esac
}

debian=yes
command -v dpkg-query >/dev/null || debian=no
root=no
[ "$(id -u)" != 0 ] || root=yes
missing='' missing_dnf=''
for list in "$@"; do
    while IFS=' |' read -r package instead dnf; do
        case $package in '' | '#'*) continue ;; esac
        if [ $debian = yes ]; then
            # shellcheck disable=SC2016
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ] || continue
        fi
        if [ $debian = yes ] && [ $root = yes ] || ! stood_in "$instead" </dev/null; then
            missing="$missing $package"
            [ "$dnf" = - ] || missing_dnf="$missing_dnf $dnf"
        fi
    done <"$here/$list"
done
# Nothing is fetched if HDF5 is there already.
hdf5_is_there() {
    [ -n "${HDF5_ROOT-}" ] || {
        prefix=$("$here/../deps/superbuild.sh" --print-prefix 2>/dev/null) && [ -f "$prefix/.complete" ]
    }
}
enough_cargo || hdf5_is_there ||
    { missing="$missing $(cargo_package)" && missing_dnf="$missing_dnf cargo"; }
[ -n "$missing" ] || exit 0

if [ $debian = no ]; then
    say "not a Debian system: no packages are installed. These seem to be missing; with dnf (Fedora; RHEL"
    say "with EPEL; the names were not tried), and then the module of an MPI loaded:"
    say ""
    echo "    dnf install$missing_dnf" >&2
    say ""
    say "cmake says what it misses. Without them: pip install . (docs/user/install.md)"
    exit 0
fi
command="apt-get install -y --no-install-recommends$missing"
if [ $root = no ]; then
    say "error: system packages are missing and this is not root. Type:"
    say ""
    if command -v sudo >/dev/null; then
        echo "    sudo apt-get update && sudo $command" >&2
    else
        echo "    su -c 'apt-get update && $command'" >&2
    fi
    say ""
    say "and call make again. What needs no root: pip install . (docs/user/install.md)"
    exit 1
fi
say "$command"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get -o DPkg::Lock::Timeout=300 update &&
    eval "apt-get -o DPkg::Lock::Timeout=300 ${command#apt-get }"; } >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    say "error: apt-get failed; after mending that, type: apt-get update && $command"
    exit 1
fi
enough_cargo || hdf5_is_there || {
    say "error: cargo is missing or older than 1.85. Get a newer one (rustup default stable) and call make again."
    exit 1
}
