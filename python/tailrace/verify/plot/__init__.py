# SPDX-License-Identifier: Apache-2.0
"""Plot files of adaptive meshes: one file in the names of Chombo, or AMReX's folder."""
