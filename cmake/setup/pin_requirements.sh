#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes requirements.txt and requirements-test.txt anew from requirements.in and
# requirements-test.in, with the newest versions there are.
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
{
    echo "# What builds and runs the programs and the command, pinned. Made from requirements.in by: make requirements"
    cat "$work/run"
} >"$here/requirements.txt"
{
    echo "# What tests, checks and packs beside, pinned. Made from requirements-test.in by: make requirements"
    cat "$work/test"
} >"$here/requirements-test.txt"
