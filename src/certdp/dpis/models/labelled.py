"""Records with labels."""

from __future__ import annotations

import hashlib
from typing import Any, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...accounting.errors import InvalidValue
from ...accounting.private import InvalidData, Private
from ..sampling import FloatArray, IntArray

_ENTRIES = 1 << 20
"""Entries of features that are digested at a time."""


@final
@frozen(kw_only=True, eq=False)
class LabelledData:
    """Records with labels; private.

    NaN and infinite entries are admitted: the gradient of such a record is none, and training drops it. Fixed features,
    such as those of `certdp.dpis.scattering`, are computed from each record by itself beforehand.

    Args:
        features: matrix (n, d) of numbers of any type, one record per row; entries are read as binary64.
        labels: whole numbers ≥ 0, (n,).
        divide_by: a public number > 0 that entries are divided by as they are read; a quotient beyond binary64 is an
            infinite entry.

    Raises:
        InvalidValue: for other shapes and types, no records and labels below 0.
    """

    features: NDArray[Any] = field(repr=False)
    labels: IntArray = field(repr=False)
    divide_by: float = 1.0

    def __attrs_post_init__(self) -> None:
        shape, labels = self.features.shape, self.labels
        if len(shape) != 2 or 0 in shape or self.features.dtype.kind not in "fiub":
            raise InvalidValue("features", f"shape {shape}", "a matrix of numbers with a record and a column")
        if labels.shape != shape[:1] or labels.dtype.kind not in "iu":
            raise InvalidValue("labels", f"shape {labels.shape}", f"{shape[0]} whole numbers, one for each record")
        if int(labels.min()) < 0:
            found = Private(int(labels.min()))
            raise InvalidData("labels", "one below 0", "whole numbers ≥ 0", "Number the classes from 0", found=found)
        if not 0 < self.divide_by < np.inf:
            raise InvalidValue("divide_by", self.divide_by, "a finite number > 0")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def columns(self) -> int:
        """The number d of features of a record."""
        return int(self.features.shape[1])

    @property
    def classes(self) -> int:
        """The number of classes: one more than the largest label there is. Private, as everything here."""
        return int(self.labels.max()) + 1

    def require_classes(self, classes: int) -> None:
        """Raises InvalidValue for a label that is none of so many classes; a message to the data's curator."""
        if self.classes > classes:
            found = Private(self.classes - 1)
            raise InvalidData("data", "a larger label", f"labels from 0 to {classes - 1}", found=found)

    @property
    def digest(self) -> Private[str]:
        """SHA-256 of all records as `rows` gives them, whatever file and type they came from."""
        features, labels = hashlib.sha256(f"{self.features.shape}".encode()), hashlib.sha256()
        rows = max(1, _ENTRIES // self.columns)
        for start in range(0, len(self), rows):
            numbers, classes = self.rows(np.arange(start, min(start + rows, len(self))))
            features.update(np.ascontiguousarray(numbers).data)
            labels.update(classes.astype(np.int64).data)
        return Private(features.hexdigest() + labels.hexdigest())

    def rows(self, indices: IntArray) -> tuple[FloatArray, IntArray]:
        """The features and labels of some records."""
        features = np.asarray(self.features[indices], dtype=np.float64)
        if self.divide_by != 1:
            with np.errstate(over="ignore"):  # that record is dropped in training, as one with an infinite entry is
                features = features / self.divide_by
        return features, self.labels[indices]
