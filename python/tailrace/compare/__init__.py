# SPDX-License-Identifier: Apache-2.0
"""Two sets of Records side by side: figures, verdict, and what differs around them."""
