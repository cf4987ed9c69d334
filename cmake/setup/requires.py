# SPDX-License-Identifier: Apache-2.0
"""Prints what the Python package needs to run, one requirement per line: of pyproject.toml."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
print("\n".join(project["dependencies"]))
