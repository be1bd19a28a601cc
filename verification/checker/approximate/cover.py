"""The cover of a domain by cells, on each of which a parameter and a rate are bounded.

A cover is a binary tree: an inner node splits one coordinate at a number, both sides hold that number, a leaf
bounds the loss's parameter and the rate on its cell. So the leaves cover the domain by construction, and each leaf
is proven by itself.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .. import shapes
from ..expressions import Box, Pool
from ..intervals import Arithmetic, Interval, at_most
from ..supremum import prove_at_most
from ..verdict import Refused

MOST_LEAVES: Final = 64
_LEAF: Final = shapes.record(parameter=shapes.not_negative, rate=shapes.not_negative)
_CURVE: Final = shapes.record(parameter=shapes.sequence(shapes.not_negative), rate=shapes.not_negative)
_SPLIT: Final = shapes.record(
    coordinate=shapes.text, at=shapes.a_rational, below=shapes.anything, above=shapes.anything
)


class Corner(NamedTuple):
    """An upper bound of the parameter and of the rate on a cell; of a curve one for each of its orders."""

    parameters: tuple[Fraction, ...]
    rate: Fraction


def prove_cover(
    tree: Any,
    pool: Pool,
    parameters: Sequence[int],
    rate: int,
    box: Box,
    arithmetic: Arithmetic,
    where: str,
    *,
    is_curve: bool,
) -> list[Corner]:
    """Prove what every leaf says of its cell, and list the leaves' bounds, each once."""
    found: dict[Corner, None] = {}
    for cell, corner in _leaves(tree, box, arithmetic, where, is_curve=is_curve):
        if len(corner.parameters) != len(parameters):
            raise Refused(f"{where} must bound the loss at each order of its curve")
        for root, bound, what in (
            *((root, bound, "loss") for root, bound in zip(parameters, corner.parameters, strict=True)),
            (rate, corner.rate, "rate"),
        ):
            used = pool.variables(root)
            sides = {name: side for name, side in cell.items() if name in used}
            least = arithmetic.rational(bound).lo
            exceeded = f"{where}: some record of a cell has a larger {what} than the cell states"
            prove_at_most(pool, root, sides, least, arithmetic, exceeded)
        found[corner] = None
    return list(found)


def _leaves(tree: Any, box: Box, arithmetic: Arithmetic, where: str, *, is_curve: bool) -> Iterator[tuple[Box, Corner]]:
    """List the leaves of a cover with their cells."""
    open_nodes = [(tree, box)]
    leaves = 0
    while open_nodes:
        node, cell = open_nodes.pop()
        if type(node) is dict and "coordinate" in node:
            _SPLIT(node, where)
            name = node["coordinate"]
            if name not in cell or name.startswith("rounding("):
                raise Refused(f"{where} splits an unknown coordinate {name!a}")
            open_nodes += [
                (node[part], {**cell, name: side})
                for part, side in zip(("below", "above"), _halves(cell[name], node["at"], arithmetic), strict=True)
            ]
            continue
        (_CURVE if is_curve else _LEAF)(node, where)
        leaves += 1
        if leaves + len(open_nodes) > MOST_LEAVES:
            raise Refused(f"{where} has more than {MOST_LEAVES} cells")
        stated = node["parameter"] if is_curve else [node["parameter"]]
        corner = Corner(tuple(map(Fraction, stated)), Fraction(node["rate"]))
        if corner.rate > 1:
            raise Refused(f"{where} states a rate above 1")
        yield cell, corner


def _halves(side: Interval, at: str, arithmetic: Arithmetic) -> tuple[Interval, Interval]:
    middle = arithmetic.rational(Fraction(at))
    if not (at_most(side.lo, middle.lo) and at_most(middle.hi, side.hi)):
        raise Refused("a cover splits a cell outside it")
    return Interval(side.lo, middle.hi), Interval(middle.lo, side.hi)
