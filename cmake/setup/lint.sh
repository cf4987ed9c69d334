#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formatting and static checks.   lint.sh <build> <jobs>   or   lint.sh --fix
# clang-tidy looks at what no clone on this machine has seen pass (cmake/setup/tidy.py).
set -euo pipefail
cd "$(dirname "$0")/../.."
ruff=build/venv/bin/ruff
clang_format=${CLANG_FORMAT:-clang-format}
mapfile -t sources < <(git ls-files 'src/*.[ch]pp' 'tests/*.[ch]pp' 'bindings/*.[ch]pp' 'bench/*.[ch]pp')
mapfile -t scripts < <(git ls-files '*.py')
if [ ${#sources[@]} -eq 0 ] || [ ${#scripts[@]} -eq 0 ]; then
    echo "lint: error: git lists no sources here, so nothing would be checked" >&2
    echo "       hint: run it in a git checkout that belongs to you (git status says what git wants)" >&2
    exit 1
fi

if [ "${1:-}" = --fix ]; then
    "$clang_format" -i "${sources[@]}"
    "$ruff" check --quiet --fix "${scripts[@]}" || true
    "$ruff" format --quiet "${scripts[@]}"
    exit 0
fi
build=${1:?lint.sh wants a build folder}
jobs=${2:-$(nproc)}
failed=()
run() { # run <name> <command...>
    echo "lint: $1" >&2
    local name=$1
    shift
    "$@" || failed+=("$name")
}

run clang-format "$clang_format" --dry-run -Werror "${sources[@]}"
run "ruff check" "$ruff" check "${scripts[@]}"
run "ruff format" "$ruff" format --check "${scripts[@]}"
run mypy build/venv/bin/mypy --cache-dir build/mypy
run clang-tidy build/venv/bin/python cmake/setup/tidy.py "$build" "$jobs"
run "include arrows" "$build/tests/run_case" -- "$PWD/build/venv/bin/python" -m pytest -q \
    -p no:cacheprovider --rootdir="$PWD" "$PWD/tests/lint"
if [ ${#failed[@]} -gt 0 ]; then
    printf 'lint: failed: %s\n' "${failed[*]}" >&2
    echo "      hint: make format mends what is only formatting" >&2
    exit 1
fi
echo "lint: all passed"
