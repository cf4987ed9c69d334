# SPDX-License-Identifier: Apache-2.0
"""The goals of formats and kernels: what is compared with what."""
