# SPDX-License-Identifier: Apache-2.0
"""Element types as they matter to a reader of the file; the order of bytes does not."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Type:
    """Base of all types; frozen, so that equal types compare equal."""

    def describe(self) -> str:
        """The type in words."""
        raise NotImplementedError

    @property
    def variable(self) -> bool:
        """Whether elements differ in length (or have to be resolved one by one)."""
        return False


@dataclass(frozen=True)
class Integer(Type):
    size: int
    signed: bool
    bits: int  # significant ones

    def describe(self) -> str:
        name = f"{'' if self.signed else 'u'}int{8 * self.size}"
        return name if self.bits == 8 * self.size else f"{name} ({self.bits} bits used)"


@dataclass(frozen=True)
class Float(Type):
    size: int
    layout: str = ""  # of the bits, where it is not IEEE's

    def describe(self) -> str:
        return f"float{8 * self.size}{f' ({self.layout})' if self.layout else ''}"


@dataclass(frozen=True)
class Complex(Type):
    base: Type

    def describe(self) -> str:
        return f"complex of {self.base.describe()}"


@dataclass(frozen=True, repr=False)
class Bitfield(Type):
    size: int
    bits: int | None = None  # significant ones, where not all are

    def describe(self) -> str:
        name = f"bitfield{8 * self.size}"
        return name if self.bits is None else f"{name} ({self.bits} bits used)"

    def __repr__(self) -> str:
        """Hashes are over it: as it was before there were any with unused bits."""
        bits = "" if self.bits is None else f", bits={self.bits}"
        return f"Bitfield(size={self.size}{bits})"


@dataclass(frozen=True)
class Text(Type):
    """A string; `size` None: of variable length."""

    size: int | None
    charset: str  # "ascii" or "utf-8"
    padding: str  # "null-terminated", "null-padded" or "space-padded"
    # Whether all bytes are content, also those behind a zero byte: as netCDF reads its texts.
    whole: bool = field(default=False, repr=False, compare=False)

    def describe(self) -> str:
        length = "variable length" if self.size is None else f"length {self.size}"
        return f"string ({length}, {self.padding}, {self.charset})"

    @property
    def variable(self) -> bool:
        return self.size is None


@dataclass(frozen=True)
class Opaque(Type):
    size: int
    tag: str

    def describe(self) -> str:
        return f"opaque ({self.size} bytes, tag {self.tag!r})"


@dataclass(frozen=True)
class Enum(Type):
    base: Type
    members: tuple[tuple[str, int], ...]  # sorted by value, then name

    def describe(self) -> str:
        names = ", ".join(f"{name}={value}" for name, value in self.members[:8])
        more = ", ..." if len(self.members) > 8 else ""
        return f"enum of {self.base.describe()} {{{names}{more}}}"


@dataclass(frozen=True)
class Compound(Type):
    """Members in order; where they lie within an element does not matter."""

    members: tuple[tuple[str, Type], ...]

    def describe(self) -> str:
        names = ", ".join(f"{name}: {kind.describe()}" for name, kind in self.members)
        return f"compound {{{names}}}"

    @property
    def variable(self) -> bool:
        return any(kind.variable for _, kind in self.members)


@dataclass(frozen=True)
class Array(Type):
    base: Type
    shape: tuple[int, ...]

    def describe(self) -> str:
        return f"array {list(self.shape)} of {self.base.describe()}"

    @property
    def variable(self) -> bool:
        return self.base.variable


@dataclass(frozen=True)
class Vlen(Type):
    base: Type

    def describe(self) -> str:
        return f"variable-length sequence of {self.base.describe()}"

    @property
    def variable(self) -> bool:
        return True


@dataclass(frozen=True)
class Reference(Type):
    """A reference; what it points to is compared, not its bytes."""

    to: str  # "object" or "region"

    def describe(self) -> str:
        return f"{self.to} reference"

    @property
    def variable(self) -> bool:
        return True


@dataclass(frozen=True)
class Raw(Type):
    """A type whose values this program cannot interpret; its stored bytes are compared."""

    size: int
    name: str
    # Whether its bytes say the same in another file. Hashes are over the repr: not a part of it.
    comparable: bool = field(default=True, repr=False, compare=False)

    def describe(self) -> str:
        return f"{self.name} ({self.size} bytes)"
