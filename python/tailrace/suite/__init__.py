# SPDX-License-Identifier: Apache-2.0
"""Published configurations of kernels, run here beside their published figures."""
