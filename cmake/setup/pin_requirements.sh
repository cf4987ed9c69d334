#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes requirements.txt and requirements-docs.txt anew, with the newest versions there are. What both
# name has one version: Python of build/venv makes the pages too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pin() { # pin <list> <what it is> [option of pip...]
    list=$1
    {
        echo "# $2, pinned. Made from $list.in by: make requirements"
        shift 2
        "${PYTHON:-python3}" -m venv "$work/$list"
        "$work/$list/bin/python" -m pip install --quiet -r "$here/$list.in" "$@"
        "$work/$list/bin/python" -m pip freeze
    } >"$work/$list.txt"
    mv "$work/$list.txt" "$here/$list.txt"
}
pin requirements "Everything in build/venv"
pin requirements-docs "What \`make docs\` needs beside build/venv" --constraint "$here/requirements.txt"
