#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# As VPIC writes its particles: one file that all ranks share, collective data and metadata, eight
# variables in each of twelve steps. 201 MB for each of the three runs with four ranks.
exec "$(dirname "$0")/loop.sh" vpic_shared "$@"
