# SPDX-License-Identifier: Apache-2.0
"""The documentation site (`make docs`): Sphinx over the Markdown pages as they lie in the tree."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "python")]

project = "Tailrace"
author = "The Tailrace developers"
version = release = (ROOT / "VERSION").read_text().strip()

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.graphviz",
    "sphinx.ext.napoleon",
    "breathe",
    "sphinx_copybutton",
    "house",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/**"]
exclude_patterns = ["docs/site"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
graphviz_output_format = "svg"
suppress_warnings = ["misc.highlighting_failure"]  # JSON that leaves parts out

breathe_default_project = "tailrace"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
autodoc_typehints = "description"

html_theme = "furo"
html_show_copyright = False
html_title = f"Tailrace {version}"
html_additional_pages = {"index": "to_home.html"}
templates_path = ["templates"]
copybutton_prompt_text = "$ "
