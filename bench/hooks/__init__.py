# SPDX-License-Identifier: Apache-2.0
"""What the hooks cost a program, and what they bring one."""
