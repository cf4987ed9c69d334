# SPDX-License-Identifier: Apache-2.0
"""Profiles of runs, recorded by ourselves or by Darshan, and the intents in them."""
