# SPDX-License-Identifier: Apache-2.0
"""Profiles of runs: recording them, and reading those that others recorded."""
