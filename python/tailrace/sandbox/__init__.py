# SPDX-License-Identifier: Apache-2.0
"""Where foreign programs run without harm: copies, confinement, and everything put back."""
