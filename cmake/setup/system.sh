#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# System packages: nothing to do where all are there; as root it installs what is missing, and
# without root it prints the exact command and ends with 1.   system.sh [list...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
say() { echo "setup: $*" >&2; }

if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: no packages are installed. What is needed is listed in"
    say "  cmake/setup/apt-packages.txt, and cmake says what it misses."
    exit 0
fi

wanted=$(for list in apt-packages.txt "$@"; do sed 's/#.*//' "$here/$list"; done | xargs)
missing=
for package in $wanted; do
    # shellcheck disable=SC2016
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
        missing="$missing $package"
done
# cargo fetches the sources of HDF5 and netCDF-C; those packages want 1.85 or newer, which Debian 12
# calls cargo-web.
enough_cargo() {
    command -v cargo >/dev/null &&
        cargo --version 2>/dev/null |
        awk 'BEGIN { old = 1 } { split($2, v, "."); old = !(v[1] > 1 || v[1] == 1 && v[2] >= 85) } END { exit old }'
}
enough_cargo || missing="$missing cargo-web"

if [ -z "$missing" ]; then
    exit 0
fi
command="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" != 0 ]; then
    say "error: system packages are missing and this is not root. Type:"
    say ""
    if command -v sudo >/dev/null; then
        echo "    sudo apt-get update && sudo $command" >&2
    else
        echo "    su -c 'apt-get update && $command'" >&2
    fi
    say ""
    say "and call make again."
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
enough_cargo || {
    say "error: cargo is missing or older than 1.85. Install a newer one (with rustup, say) and call make again."
    exit 1
}
