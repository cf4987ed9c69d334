# SPDX-License-Identifier: Apache-2.0
"""The report: one self-contained page made of Records. Start with page.py.

model.py says what a page consists of, sections.py and figures.py fill it from a group of Records,
plots/ draws, page.py renders, store.py writes.
"""

from __future__ import annotations
