# SPDX-License-Identifier: Apache-2.0
"""From an unmodified program to a proven faster one: `tailrace tune`."""
