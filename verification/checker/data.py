"""Comparison of an owner's certificate with the data that it commits to.

The commitment is SHA-256 over the nonce, "records,columns;" and every number as a big-endian binary64, row
by row. Every row's ψ and rate are enclosed anew from its norms.

Norms: `math.fsum` rounds the exact sum of its terms once, so with squares rounded once (nothing under- or
overflows between 2^-400 and 2^400) an l2 norm is within 2^-51 of the true one, relatively; 2^-50 is allowed.
Rows beyond those magnitudes are summed in exact fractions. Other norms are enclosed, and 2^-43 is allowed on top:
their producer rounds them up by less, and compares the result with the radius.
"""

import hashlib
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple, Protocol

from .domain import Domain
from .expressions import norm, order_of
from .intervals import ZERO, Arithmetic, Interval, Mpf, at_most, exact, hull
from .norms import INFINITE, norm_of_sizes
from .verdict import Refused


class Data(Protocol):
    """Rows of finite Python floats, each `columns` long."""

    @property
    def columns(self) -> int:
        """The length of every row."""
        ...

    def __iter__(self) -> Iterator[Sequence[float]]:
        """Iterate over the rows, in the order of the commitment."""
        ...


_ROWS: Final = Arithmetic(96)
_ERROR: Final = Fraction(1, 2**50)
_CLIPPED: Final = Fraction(1, 2**40)
_LEAST, _MOST = 2.0**-400, 2.0**400

_ABOUT: Final = hull(_ROWS.rational(1 - _ERROR), _ROWS.rational(1 + _ERROR))
_ROUGHLY: Final = hull(_ROWS.rational(1 - Fraction(1, 2**43)), _ROWS.rational(1 + Fraction(1, 2**43)))
_FLOATS: Final[dict[str, Callable[[list[float]], float]]] = {
    "1": math.fsum,
    "2": lambda sizes: math.sqrt(math.fsum(size * size for size in sizes)),
}


def _norm(p: str, sizes: list[float], tame: bool) -> Interval:
    """Enclose a norm from the absolute values of a row."""
    if p == INFINITE:
        largest = exact(max(sizes))
        return Interval(largest, largest)
    if p not in _FLOATS:
        return _ROWS.multiply(norm_of_sizes(sizes, p, _ROWS), _ROUGHLY)
    if tame:
        value = exact(_FLOATS[p](sizes))
        return _ROWS.multiply(Interval(value, value), _ABOUT)
    total = _ROWS.rational(sum((Fraction(size) ** int(p) for size in sizes), Fraction(0)))
    return total if p == "1" else _ROWS.sqrt(total)


def _norms(row: Sequence[float], needed: Sequence[str]) -> dict[str, Interval]:
    sizes = [abs(value) for value in row]
    largest = max(sizes)
    if not all(map(math.isfinite, sizes)):
        raise Refused("the data hold a number that is not finite")
    tame = largest <= _MOST and min(filter(None, sizes), default=1.0) >= _LEAST
    return {norm(p): _norm(p, sizes, tame) for p in needed}


def _clip(norms: dict[str, Interval], own: str, limit: Interval, surely: bool) -> dict[str, Interval]:
    """Scale a row to the radius; one that may lie within it may also keep its norms."""
    if not surely:
        clipped = _clip({**norms, own: hull(limit, norms[own])}, own, limit, True)
        return {name: hull(norms[name], clipped[name]) for name in norms}
    factor = _ROWS.divide(limit, norms[own])
    return {name: limit if name == own else _ROWS.multiply(side, factor) for name, side in norms.items()}


class Measured(NamedTuple):
    """An upper bound of what a record loses, 0 for one that is never drawn, and its probability of being drawn."""

    psi: Mpf
    drawn: Interval


Measure = Callable[[dict[str, Interval], Arithmetic], Measured]
"""Measures a record by its norms; refuses one that cannot be drawn as the certificate says."""


def compare(measure: Measure, variables: set[str], domain: Domain | None, stated: dict[str, Any], data: Data) -> None:
    """Refuse unless the data are those of the commitment and no row's ψ exceeds what is stated of them.

    `variables` name the norms that `measure` needs.

    Guarantees: ψ(row) ≤ psi_max for every row that may be drawn, as clipped or dropped at the domain (a row whose
    rate is below 2^-961 is never drawn: rates below 2^-960 count as 0), and the sum of the probabilities meets
    the stated range of the expected sample size.
    """
    columns, records = stated["columns"], stated["records"]
    if data.columns != columns:
        raise Refused(f"the data have {data.columns} columns, the certificate {columns}")
    digest = hashlib.sha256(bytes.fromhex(stated["nonce"]) + f"{records},{columns};".encode("ascii"))
    pack = struct.Struct(f">{columns}d").pack
    orders = {order for variable in variables if (order := order_of(variable)) is not None}
    needed = sorted(orders if domain is None else orders | {domain.p})
    largest = _ROWS.rational(Fraction(stated["psi_max"])).lo
    known: dict[tuple[Interval, ...], Measured] = {}
    expected = Interval(ZERO, ZERO)
    count = 0
    for row in data:
        count += 1
        if count > records or len(row) != columns:
            raise Refused("the data do not have the stated number of records and columns")
        digest.update(pack(*row))
        norms = _norms(row, needed)
        optional = False
        if domain is not None:
            own, radius = norm(domain.p), _ROWS.rational(domain.radius)
            surely = not at_most(norms[own].lo, radius.hi)
            if surely or not at_most(norms[own].hi, radius.lo):
                if stated["outside"] == "clip":
                    limit = Interval(_ROWS.multiply(radius, _ROWS.rational(1 - _CLIPPED)).lo, radius.hi)
                    norms = _clip(norms, own, limit, surely)
                elif surely and stated["outside"] == "none":
                    raise Refused(f"record {count} lies outside the domain")
                elif surely:
                    continue
                else:
                    optional = stated["outside"] == "drop"
        key = tuple(norms.values())
        if key not in known:
            known[key] = measure(norms, _ROWS)
        psi, drawn = known[key]
        if not at_most(psi, largest):
            raise Refused(f"the profile of record {count} is not below the stated largest one")
        expected = _ROWS.add(expected, hull(Interval(ZERO, ZERO), drawn) if optional else drawn)
    if count != records:
        raise Refused(f"the data have {count} records, the certificate {records}")
    if digest.hexdigest() != stated["commitment"]:
        raise Refused("the data are not those of the commitment")
    low, high = map(exact, stated["expected_sample_size"])
    if not (at_most(low, high) and at_most(expected.lo, high) and at_most(low, expected.hi)):
        raise Refused("the expected sample size is not the stated one")
