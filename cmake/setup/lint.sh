#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formatting and static checks.   lint.sh <build> <jobs>   or   lint.sh --fix
# clang-tidy looks at what was changed since the last time it passed (build/<preset>/tidy-passed holds
# a hash per file, of it, of the checks and of the headers), so that a second call takes seconds.
set -euo pipefail
cd "$(dirname "$0")/../.."
ruff=build/venv/bin/ruff
clang_format=${CLANG_FORMAT:-clang-format}
clang_tidy=${CLANG_TIDY:-build/venv/bin/clang-tidy} # passes over system headers: three times as fast as Debian 12's
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

tidy() {
    local common hash file store=$build/tidy-passed database=$build/tidy-database
    mkdir -p "$store" "$database"
    # Without precompiled headers: those are the compiler's, and each file has to include what it uses.
    sed 's/ -Winvalid-pch//; s/ -include [^ ]*cmake_pch\.hxx//' "$build/compile_commands.json" \
        >"$database/compile_commands.json"
    common=$( ("$clang_tidy" --version; cat .clang-tidy $(git ls-files 'src/*.hpp' 'include/*.h')) | sha256sum)
    local wanted=()
    while read -r file; do
        # Only what this build compiles: clang-tidy must know the flags.
        grep -q "\"file\": \".*/$file\"" "$build/compile_commands.json" || continue
        hash=$( (echo "$common"; cat "$file") | sha256sum | cut -c1-32)
        [ -f "$store/$hash" ] || wanted+=("$file $hash")
    done < <(git ls-files 'src/*.cpp')
    [ ${#wanted[@]} -gt 0 ] || return 0
    echo "lint: clang-tidy looks at ${#wanted[@]} files" >&2
    export clang_tidy database store
    # shellcheck disable=SC2016
    printf '%s\n' "${wanted[@]}" | xargs -P "$jobs" -L 1 bash -c \
        '"$clang_tidy" -p "$database" --quiet --extra-arg=-Wno-unknown-warning-option "$0" 2>/dev/null && touch "$store/$1"'
}

run clang-format "$clang_format" --dry-run -Werror "${sources[@]}"
run "ruff check" "$ruff" check "${scripts[@]}"
run "ruff format" "$ruff" format --check "${scripts[@]}"
run mypy build/venv/bin/mypy --cache-dir build/mypy
run clang-tidy tidy
run "include arrows" "$build/tests/run_case" -- "$PWD/build/venv/bin/python" -m pytest -q \
    -p no:cacheprovider --rootdir="$PWD" "$PWD/tests/lint"
if [ ${#failed[@]} -gt 0 ]; then
    printf 'lint: failed: %s\n' "${failed[*]}" >&2
    echo "      hint: make format mends what is only formatting" >&2
    exit 1
fi
echo "lint: all passed"
