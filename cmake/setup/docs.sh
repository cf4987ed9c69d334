#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The documentation site: a link that leads nowhere, and every other warning, ends it.
#   docs.sh packages          its packages alone (those of Python in the cache, linked as build/docs-packages)
#   docs.sh site              the pages too, in build/site
# Cache: ${TAILRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tailrace}/docs-<hash>.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$root/build/venv/bin/python
say() { echo "setup: $*" >&2; }

"$here/system.sh" packages-docs.txt
cache=${TAILRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tailrace}
key=$({ "$python" -c 'import sys, sysconfig; print(sys.version_info[:2], sysconfig.get_platform())'
    cat "$here/requirements-docs.txt"; } | sha256sum | cut -c1-16)
folder=$cache/docs-$key
if [ ! -d "$folder" ]; then
    say "packages for the documentation in $folder"
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/work-docs.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    "$python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --target "$work" \
        -r "$here/requirements-docs.txt" </dev/null
    # Complete at once; another clone may have been faster.
    mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work"
fi
ln -sfn "$folder" "$root/build/docs-packages"
[ "$1" = site ] || exit 0

PYTHONPATH=$root/build/docs-packages "$python" -m sphinx --quiet --fail-on-warning --keep-going \
    -d "$root/build/docs/trees" -c "$root/docs/site" "$root" "$root/build/site"
say "the documentation: build/site/index.html"
