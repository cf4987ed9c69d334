# SPDX-License-Identifier: Apache-2.0
"""Batch jobs: what is asked for, the script that does it, and how it gets to the scheduler."""
