# SPDX-License-Identifier: Apache-2.0
"""A file that is there with the layout that its readers want: `repack(path, plan, out=...)`."""

from tailrace.repack.memory import Memory
from tailrace.repack.whole import Options, Report, repack

__all__ = ["Memory", "Options", "Report", "repack"]
