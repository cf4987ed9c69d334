# SPDX-License-Identifier: Apache-2.0
"""One kernel on several numbers of ranks: `tailrace scale`.

geometry.py: the inputs of a kernel for so many ranks; plan.py: what is run, as a sweep over the
ranks; curve.py: times and efficiencies; model.py: the fitted cost and what it foretells.
"""
