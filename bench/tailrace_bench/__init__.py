# SPDX-License-Identifier: Apache-2.0
"""Side-by-side benchmarks; bench/run.py is the command."""
