#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes requirements.txt, requirements-test.txt and requirements-docs.txt anew from the lists that
# end in .in, with the newest versions there are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
pip() { "$work/venv/bin/python" -m pip --disable-pip-version-check "$@"; }
pip install --quiet -r "$here/requirements.in"
pip freeze >"$work/run"
pip install --quiet --constraint "$work/run" -r "$here/requirements-test.in"
pip freeze | grep -vxFf "$work/run" >"$work/test"
# In a place of their own beside build/venv: all of them are named, in the versions of build/venv.
"${PYTHON:-python3}" -m venv --clear "$work/venv"
pip install --quiet --constraint "$work/run" -r "$here/requirements-docs.in"
pip freeze >"$work/docs"
{
    echo "# What builds and runs the programs and the command, pinned. Made from requirements.in by: make requirements"
    cat "$work/run"
} >"$here/requirements.txt"
{
    echo "# What tests, checks and packs beside, pinned. Made from requirements-test.in by: make requirements"
    cat "$work/test"
} >"$here/requirements-test.txt"
{
    echo "# What \`make docs\` wants beside build/venv, pinned. Made from requirements-docs.in by: make requirements"
    cat "$work/docs"
} >"$here/requirements-docs.txt"
