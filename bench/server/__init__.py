# SPDX-License-Identifier: Apache-2.0
"""Measures the server: the stall of a model, its writing, what grows with fields and ranks."""
