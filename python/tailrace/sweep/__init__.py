# SPDX-License-Identifier: Apache-2.0
"""Many settings of a kernel, run in turns and ranked: `tailrace sweep`.

factors.py: what varies; plan.py: the combinations; check.py: which of them can be run;
experiment.py: the runs; data.py: their Records as figures; ranking.py, effects.py: what follows.
"""
