# SPDX-License-Identifier: Apache-2.0
"""How far numbers may be from what was written where netCDF has quantised them.

netCDF says in an attribute of the variable which algorithm it used, and how many digits stay. The
bounds follow from the algorithms; a value that equals the fill value stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tailrace.verify.close import Tolerance
from tailrace.verify.model import Attribute, Node
from tailrace.verify.report import Report


def _bitround(bits: int) -> float:
    """Rounded to so many explicit bits of the mantissa: half of the last one."""
    return 2.0 ** -(bits + 1)


def _bitgroom(digits: int) -> float:
    """The bits behind those that the digits need, and one more, are all 0 or all 1."""
    return 2.0 ** -(math.ceil(digits * math.log2(10)) + 1)


def _granularbr(digits: int) -> float:
    """Half of the last decimal digit; the greatest share where the first digit is a 1."""
    return 0.5 * 10.0 ** (1 - digits)


_algorithms: dict[str, tuple[str, Callable[[int], float]]] = {
    "_QuantizeBitRoundNumberOfSignificantBits": ("bitround", _bitround),
    "_QuantizeBitGroomNumberOfSignificantDigits": ("bitgroom", _bitgroom),
    "_QuantizeGranularBitRoundNumberOfSignificantDigits": ("granularbr", _granularbr),
}


def promised(attributes: Mapping[str, Attribute]) -> tuple[str, Tolerance] | None:
    """The name of the quantisation and what it promises; None where there was none."""
    for name, (algorithm, bound) in _algorithms.items():
        attribute = attributes.get(name)
        if attribute is None or attribute.values is None or attribute.values.size != 1:
            continue
        digits = int(attribute.values.reshape(-1)[0])
        if digits > 0:
            return f"{algorithm} {digits}", Tolerance(relative=bound(digits))
    return None


def allow_quantized(report: Report[Any, Any], node: Node) -> None:
    """What netCDF promises of a dataset that it quantised, unless a tolerance was given."""
    found = promised(node.read_attributes())
    if found is not None and report.tolerance.exact:
        report.quantized, report.tolerance = found
