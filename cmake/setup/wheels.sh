#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Wheels of other years for the tests of the hooks, each year in a folder of its own below the cache,
# linked as build/wheels/<year> (about 55 MB to fetch, once). Where they cannot be had the tests say so.
# Cache: ${TAILRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tailrace}/wheels-<year>-<hash of the list>.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$root/build/venv/bin/python
cache=${TAILRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tailrace}
say() { echo "setup: $*" >&2; }

"$python" -c 'import platform, sys
sys.exit((sys.version_info[:2], platform.machine(), sys.platform) != ((3, 11), "x86_64", "linux"))' || {
    say "no wheels of other years: they are pinned for CPython 3.11 on x86-64 Linux"
    exit 0
}
mkdir -p "$cache" "$root/build/wheels"
work=
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
for list in "$here"/wheels/*.txt; do
    year=$(basename "$list" .txt)
    folder=$cache/wheels-$year-$(sha256sum <"$list" | cut -c1-16)
    if [ ! -d "$folder" ]; then
        say "wheels of $year in $folder"
        work=$(mktemp -d "$cache/work-wheels-$year.XXXXXX")
        # What of their dependencies the tests need is in the list.
        "$python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --retries 1 \
            --only-binary :all: --require-hashes --target "$work" -r "$list" </dev/null || {
            say "the wheels of $year cannot be had; tests with them will not be run"
            exit 0
        }
        # Complete at once; another clone may have been faster.
        mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work"
    fi
    rm -rf "$root/build/wheels/$year"
    ln -s "$folder" "$root/build/wheels/$year"
done
