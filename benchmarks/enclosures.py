"""Enclosure operations beside mpmath.iv and Arb (python-flint), in one process.

Operands are the ratios of small integers that no binary number represents, so every operand is an interval of one unit
in the last place. Arb is a C library. mpmath.iv is written in Python as Enclosure is; it promises no proof, and has
no expm1 and log1p, for which exp(x) − 1 and log(1 + x) stand in. The time is that of the fastest of many passes over
all operands, in µs per operation, the loop included. Run: python benchmarks/enclosures.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from bulk_psi import fastest
from flint import arb, ctx
from mpmath import iv
from rich.console import Console
from rich.table import Table

from certdp import Enclosure

Operation: TypeAlias = Callable[[Any, Any], object]

_RATIOS = [(97 * k % 991 + 1, 331) for k in range(1, 101)]  # between 1/331 and 3

OPERATIONS: dict[str, Operation | tuple[Operation, Operation, Operation]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "sqrt": (lambda x, _: x.sqrt(), lambda x, _: iv.sqrt(x), lambda x, _: x.sqrt()),
    "exp": (lambda x, _: x.exp(), lambda x, _: iv.exp(x), lambda x, _: x.exp()),
    "expm1": (lambda x, _: x.expm1(), lambda x, _: iv.exp(x) - 1, lambda x, _: x.expm1()),
    "log": (lambda x, _: x.log(), lambda x, _: iv.log(x), lambda x, _: x.log()),
    "log1p": (lambda x, _: x.log1p(), lambda x, _: iv.log(1 + x), lambda x, _: x.log1p()),
}


def over(operation: Operation, operands: list[Any]) -> Callable[[], None]:
    """One pass of the operation over neighbouring operands."""
    pairs = list(zip(operands, [*operands[1:], operands[0]], strict=True))

    def once() -> None:
        for x, y in pairs:
            operation(x, y)

    return once


def main() -> None:
    for precision in (96, 256):
        iv.prec = ctx.prec = precision
        operands: list[list[Any]] = [
            [Enclosure.of_ratio(a, b, precision=precision) for a, b in _RATIOS],
            [iv.mpf(a) / b for a, b in _RATIOS],
            [arb(a) / b for a, b in _RATIOS],
        ]
        table = Table(title=f"{precision} bits: µs per operation; ratios above 1: certdp is faster")
        for heading in ("operation", "certdp", "mpmath.iv", "ratio", "Arb", "ratio"):
            table.add_column(heading, justify="left" if heading == "operation" else "right")
        for name, written in OPERATIONS.items():
            forms = written if isinstance(written, tuple) else (written,) * 3
            passes = [over(form, values) for form, values in zip(forms, operands, strict=True)]
            own, mpmath, arb_time = (t / len(_RATIOS) * 1e6 for t in fastest(passes, seconds=0.5))
            cells = [f"{own:.2f}", f"{mpmath:.2f}", f"{mpmath / own:.2f}", f"{arb_time:.3f}", f"{arb_time / own:.3f}"]
            table.add_row(name, *cells)
        Console().print(table)


if __name__ == "__main__":
    main()
