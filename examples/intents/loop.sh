#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profile, intents, advice, and the same run without and with the plan:
#   loop.sh CASE [KEY=VALUE...]
#   CASE       its configuration is CASE.json, beside this script
#   KEY=VALUE  for the program: dim_1=4096
# In the environment:
#   FOLDER     the folder CASE is made there and written into (default: the working folder)
#   LAUNCH     what starts the ranks (default: mpiexec -n 4)
#   PAIRS      of runs without and with the plan that are timed (default: 6)
set -eu
name=${1:?CASE is missing: vpic_shared or file_per_process}
shift
here=$(cd "$(dirname "$0")" && pwd)
launch=${LAUNCH:-mpiexec -n 4}
folder=${FOLDER:-$PWD}/$name
if [ -e "$folder" ]; then
    echo "loop.sh: error: $folder is there already: remove it, or choose another FOLDER" >&2
    exit 2
fi
mkdir -p "$folder/without"
cd "$folder"

step() {
    printf '\n== %s\n' "$*"
}

# The program is the same in all runs, and knows nothing of tailrace's hooks.
set -- tailrace-particle --input "$here/$name.json" "$@"

kept() { # kept FILE COMMAND...: all that it says goes into FILE, and is shown if it fails
    out=$1
    shift
    "$@" >"$out" 2>&1 || {
        cat "$out" >&2
        exit 1
    }
}

run() { # run FILE COMMAND...: what was written and verified, and what became of the plan
    kept "$@"
    sed -n '/^Total number of ranks/p; /^Total write size/p; /^Verification/p; /^rule /p; /^The plan /p' "$out"
}

step "1. profile: what does the program do?"
# shellcheck disable=SC2086  # LAUNCH is several words
kept profile.out tailrace profile -o profile.json -- $launch "$@"
tail -n 1 profile.out

step "2. intents: what does it intend?"
tailrace intents profile.json -o intents.json

step "3. advise: what follows from that?"
tailrace advise profile.json -o plan.json

step "4. the run without the plan"
# shellcheck disable=SC2086
run without.out $launch "$@" verify # every element, which would be reads in the profile
mv -- *.h5 without/

step "5. the run with the plan"
# shellcheck disable=SC2086
run with.out tailrace apply plan.json -- $launch "$@" verify

step "6. do the files say the same?"
for file in *.h5; do
    tailrace verify "without/$file" "$file"
done

step "7. is it faster? Pairs of runs, without and with the plan in turns"
timed() { # timed NAME COMMAND...: one run, its Record in NAME.jsonl
    name=$1
    shift
    "$@" "results=$name.jsonl" >/dev/null
}
pair=0
while [ "$pair" -lt "${PAIRS:-6}" ]; do
    if [ $((pair % 2)) = 0 ]; then
        # shellcheck disable=SC2086
        timed without $launch "$@"
        # shellcheck disable=SC2086
        timed with tailrace apply --quiet plan.json -- $launch "$@"
    else
        # shellcheck disable=SC2086
        timed with tailrace apply --quiet plan.json -- $launch "$@"
        # shellcheck disable=SC2086
        timed without $launch "$@"
    fi
    pair=$((pair + 1))
done
tailrace compare without.jsonl with.jsonl
