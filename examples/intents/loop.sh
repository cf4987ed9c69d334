#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profile, intents, advice, and the same run without and with the plan:
#   loop.sh CASE [KEY=VALUE...]
#   CASE       its configuration is CASE.json, beside this script
#   KEY=VALUE  for the program: dim_1=4096
# In the environment:
#   FOLDER     the folder CASE is made there and written into (default: the working folder)
#   LAUNCH     what starts the ranks (default: mpiexec -n 4)
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

run() { # run FILE COMMAND...: h5bench's block, what was verified, and what became of the plan
    out=$1
    shift
    "$@" >"$out"
    sed -n '/Performance Results/,/SYNC Observed write rate/p; /^Verification/p; /^rule /p; /^The plan /p' "$out"
}

step "1. profile: what does the program do?"
# shellcheck disable=SC2086  # LAUNCH is several words
tailrace profile -o profile.json -- $launch "$@" >profile.out
tail -n 1 profile.out

step "2. intents: what does it intend?"
tailrace intents profile.json -o intents.json

step "3. advise: what follows from that?"
tailrace advise profile.json -o plan.json

set -- "$@" verify # every element, which would be reads in the profile

step "4. the run without the plan"
# shellcheck disable=SC2086
run without.out $launch "$@"
mv -- *.h5 without/

step "5. the run with the plan"
# shellcheck disable=SC2086
run with.out tailrace apply plan.json -- $launch "$@"

step "6. do the files say the same?"
for file in *.h5; do
    tailrace verify "without/$file" "$file"
done
