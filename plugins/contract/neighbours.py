"""Two neighbouring data sets, as an audit compares them, and mechanisms that know theirs."""

from __future__ import annotations

from typing import Protocol, final, runtime_checkable

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats
from .mechanism import as_records


@final
@frozen(eq=False)
class Neighbours:
    """Two data sets that differ in one record.

    Attributes:
        first: float64 matrix (n, d).
        second: float64 matrix (m, d).
        difference: in a few words, in what they differ.
    """

    first: Floats = field(converter=as_records)
    second: Floats = field(converter=as_records)
    difference: str

    def __attrs_post_init__(self) -> None:
        if self.first.shape[1] != self.second.shape[1]:
            shapes = f"{self.first.shape[1]} and {self.second.shape[1]} columns"
            raise InvalidValue("neighbours", shapes, "data sets with the same columns")

    @classmethod
    def without_last(cls, records: ArrayLike, difference: str = "the last record, present and absent") -> Neighbours:
        """A data set, and the same without its last record.

        Raises:
            InvalidValue: where there is no record.
        """
        matrix = as_records(records)
        if not len(matrix):
            raise InvalidValue("neighbours", "no records", "at least one record, which is then left out")
        return cls(matrix, matrix[:-1], difference)

    @classmethod
    def replacing_last(cls, records: ArrayLike) -> Neighbours:
        """Data sets in which the last record given stands in the place of the one before it.

        Raises:
            InvalidValue: for fewer than two records.
        """
        matrix = as_records(records)
        if len(matrix) < 2:
            raise InvalidValue("neighbours", f"{len(matrix)} records", "at least two records, which replace each other")
        kept = np.delete(matrix, -2, axis=0)
        return cls(matrix[:-1], kept, "the last record, and another in its place")


@runtime_checkable
class KnowsNeighbours(Protocol):
    """A mechanism that says which neighbouring data sets tell most of it.

    Others are audited on the record of the public domain about which their declared loss is largest.
    """

    @property
    def neighbours(self) -> Neighbours:
        """Neighbouring data sets about which it loses as much as about any."""
        ...
