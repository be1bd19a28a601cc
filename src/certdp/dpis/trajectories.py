"""Files of norm sums as they are foreseen, by epoch."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from ..accounting.errors import InvalidValue
from ..accounting.exact import exact


def read_trajectory(path: Path, epochs: int | None, records: Fraction, *, parameter: str) -> list[Fraction]:
    """K̃/(N·C) by epoch from a file with K̃/C, one number a line.

    Args:
        path: the file; empty lines are passed over.
        epochs: how many numbers there must be; None for any number from 1 on.
        records: N, the largest K̃/C.
        parameter: by which name errors speak of the file.

    Raises:
        InvalidValue: for a file that cannot be read, or with other content.
    """
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue(parameter, str(path), "a text file, one number a line", str(error)) from None
    sums = [exact(line, parameter=parameter) for line in lines]
    if not sums or (epochs is not None and len(sums) != epochs):
        wanted = "at least one number" if epochs is None else f"{epochs} numbers, one for each epoch"
        raise InvalidValue(parameter, f"{len(sums)} numbers", wanted)
    for number, value in enumerate(sums, 1):
        if not 0 < value <= records:
            raise InvalidValue(parameter, f"{float(value)} in line {number}", f"0 < K̃/C ≤ N = {float(records):g}")
    return [value / records for value in sums]
