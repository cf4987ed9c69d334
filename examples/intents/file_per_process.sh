#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write-only, a file per process: small blocks with gaps between them, in twelve steps. 25 MB per
# rank for each of the three runs.
exec "$(dirname "$0")/loop.sh" file_per_process "$@"
