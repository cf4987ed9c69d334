# SPDX-License-Identifier: Apache-2.0
"""Plots as inline SVG: text stays text, colours come from the page's style sheet.

Why they are made here and not by a plotting library: docs/decisions/0004-report-plots.md.
"""

from __future__ import annotations
