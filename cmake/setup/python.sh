#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The private Python environment build/venv with everything pinned (cmake and ninja among it). Does
# nothing when it is complete already: the stamps are written last.   python.sh [test]
# With `test` it has what tests, checks and wheels want too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/build/venv
say() { echo "setup: $*" >&2; }

hash=$(cat "$here/requirements-build.txt" "$here/requirements.txt" | sha256sum | cut -c1-16)
hash_test=$(sha256sum <"$here/requirements-test.txt" | cut -c1-16)
stamp=$venv/.complete
stamp_test=$venv/.complete-test
fetch() { # fetch <lists as options of pip>
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@" </dev/null
}

make_it() {
    is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
    python=
    for candidate in ${PYTHON:-python3 /usr/bin/python3 python3.13 python3.12 python3.11}; do
        if is_new_enough "$candidate"; then python=$candidate && break; fi
    done
    if [ -z "$python" ]; then
        say "error: no Python >= 3.11 was found."
        say "       hint: install one and call make PYTHON=/path/to/python3"
        exit 1
    fi

    say "private Python environment in build/venv ($("$python" --version))"
    mkdir -p "$root/build"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    fetch -r "$here/requirements-build.txt" -r "$here/requirements.txt"
    echo "$hash" >"$stamp"
}
[ "$(cat "$stamp" 2>/dev/null)" = "$hash" ] || make_it
if [ "${1-}" = test ] && [ "$(cat "$stamp_test" 2>/dev/null)" != "$hash_test" ]; then
    say "Python packages of the tests"
    fetch -c "$here/requirements.txt" -r "$here/requirements-test.txt"
    echo "$hash_test" >"$stamp_test"
fi
