#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make bench`.   bench.sh <build>
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck disable=SC1091
. "${1:?bench.sh wants a build folder}/env.sh"
exec python "$root/bench/run.py" --build "$1"
