# SPDX-License-Identifier: Apache-2.0
"""Tailrace: measure, understand, tune and hide the output of parallel programs."""

from __future__ import annotations
