# SPDX-License-Identifier: Apache-2.0
"""`python -m tailrace` is the command."""

from tailrace.cli.main import main

main()
