# SPDX-License-Identifier: Apache-2.0
"""Comparison within a tolerance, which applies to floating-point numbers and to nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tailrace.verify.canonical import ReferenceText, encode, unequal
from tailrace.verify.model import Values
from tailrace.verify.types import Array, Complex, Compound, Float, Type, Vlen

Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Tolerance:
    """a and b are equal when |a - b| <= absolute + relative * max(|a|, |b|)."""

    relative: float = 0.0
    absolute: float = 0.0

    @property
    def exact(self) -> bool:
        return self.relative == 0.0 and self.absolute == 0.0

    def describe(self) -> str:
        return f"{self.absolute:g} + {self.relative:g} * |value|"


EXACT = Tolerance()


@dataclass(frozen=True)
class Side:
    """One of the two values that are being compared."""

    values: Values
    resolve: ReferenceText


def apart(one: Side, other: Side, kind: Type, tolerance: Tolerance) -> Mask:
    """Per element, in row-major order, whether the two are further apart than is allowed."""
    if isinstance(kind, Array):
        inner = apart(_flat(one), _flat(other), kind.base, tolerance)
        count = max(1, int(np.prod(kind.shape)))
        return np.asarray(inner.reshape(-1, count).any(axis=1))
    if isinstance(kind, Float | Complex) or one.values.dtype.kind == "c":
        return numbers_apart(one.values.reshape(-1), other.values.reshape(-1), tolerance)
    if isinstance(kind, Compound) and one.values.dtype.names:
        result = np.zeros(one.values.size, np.bool_)
        for name, (_, member) in zip(one.values.dtype.names, kind.members, strict=True):
            left = Side(one.values.reshape(-1)[name], one.resolve)
            right = Side(other.values.reshape(-1)[name], other.resolve)
            result |= apart(left, right, member, tolerance)
        return result
    if isinstance(kind, Vlen):
        pairs = zip(one.values.reshape(-1), other.values.reshape(-1), strict=True)
        return np.fromiter(
            (_sequences_apart(a, b, one, other, kind.base, tolerance) for a, b in pairs),
            np.bool_,
            one.values.size,
        )
    return unequal(encode(one.values, kind, one.resolve), encode(other.values, kind, other.resolve))


def _flat(side: Side) -> Side:
    return Side(side.values.reshape(-1), side.resolve)


def _sequences_apart(
    a: Any, b: Any, one: Side, other: Side, base: Type, tolerance: Tolerance
) -> bool:
    left, right = np.asarray(a), np.asarray(b)
    if left.size != right.size:
        return True
    if left.size == 0:
        return False
    sides = Side(left, one.resolve), Side(right, other.resolve)
    return bool(apart(*sides, base, tolerance).any())


def numbers_apart(a: Values, b: Values, tolerance: Tolerance) -> Mask:
    """Floating-point numbers, real or complex, of the same extents."""
    if a.dtype.kind == "c":
        real = numbers_apart(a.real, b.real, tolerance)
        return real | numbers_apart(a.imag, b.imag, tolerance)
    wide = np.promote_types(a.dtype.newbyteorder("="), np.float64)
    left, right = a.astype(wide), b.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        greatest = np.maximum(np.abs(left), np.abs(right))
        near = np.abs(left - right) <= tolerance.absolute + tolerance.relative * greatest
    # Infinities are only equal to themselves, whatever the tolerance.
    near &= np.isfinite(left) & np.isfinite(right)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    return ~(near | same)
