# SPDX-License-Identifier: Apache-2.0
"""What a build has no format for is not run, and that is said."""

import os

from own_namespace import not_run


def pytest_runtest_setup(item):
    params = item.callspec.params if hasattr(item, "callspec") else {}
    if "pnetcdf" in params.values() and os.environ["TAILRACE_TEST_PNETCDF"] in {"", "FALSE", "OFF"}:
        not_run("needs PnetCDF for this MPI")
