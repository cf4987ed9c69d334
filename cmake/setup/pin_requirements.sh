#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes requirements.txt anew from requirements.in, with the newest versions there are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet -r "$here/requirements.in"
{
    echo "# Everything in build/venv, pinned. Made from requirements.in by: make requirements"
    "$work/venv/bin/python" -m pip freeze
} >"$here/requirements.txt"
