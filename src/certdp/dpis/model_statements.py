"""What may be said in public of a trained model, and the file that it is published as."""

from __future__ import annotations

import io
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, final

import numpy as np
from attrs import asdict, frozen

from ..accounting.guarantees import Guarantee
from ..accounting.notions import Approximate
from ..accounting.relations import AddRemove, Record
from .history import EpochFigures
from .sampling import FloatArray


@final
@frozen(kw_only=True)
class ModelStatement:
    """What may be said of a trained model in public.

    Attributes:
        method: `dpis`, or `dp-sgd` where a run releases no norm sums.
        plan: the options that the run was fixed by beforehand, numbers as exact text.
        epochs: parameters and releases of each epoch.
        grids: the unit of the public grid of the noisy sums of each epoch's steps.
        guarantee: what holds of all that the run released; None with seeded coins.
        coins: `operating system`, its own or those of a cipher keyed by it, or `seeded`.
        digest: SHA-256 of the trained parameters as an npz file, as `Trained.write` writes them.
    """

    method: str
    plan: Mapping[str, str | bool]
    epochs: tuple[EpochFigures, ...]
    grids: tuple[Fraction, ...]
    guarantee: Guarantee[Approximate, AddRemove, Record] | None
    coins: str
    digest: str

    @property
    def as_json(self) -> dict[str, Any]:
        """The statement as JSON: the plan and grids as exact text, ε and δ in binary64 rounded up."""
        return {
            "method": self.method,
            "plan": dict(self.plan),
            "epochs": [asdict(epoch) for epoch in self.epochs],
            "grids": [str(unit) for unit in self.grids],
            "guarantee": None if self.guarantee is None else _as_json(self.guarantee),
            "coins": self.coins,
            "digest": self.digest,
        }


def as_npz(parameters: Mapping[str, FloatArray]) -> bytes:
    """Arrays by name as an uncompressed npz file: the same bytes for the same arrays."""
    stream, arrays = io.BytesIO(), dict[str, Any](parameters)
    np.savez(stream, **arrays)
    return stream.getvalue()


def _as_json(guarantee: Guarantee[Approximate, AddRemove, Record]) -> dict[str, Any]:
    bound = guarantee.bound
    return {
        "epsilon": bound.epsilon.upper_float,
        "delta": bound.delta.upper_float,
        "unit": "record",
        "relation": "add-remove",
        "assumptions": [{"name": one.name, "value": one.value} for one in guarantee.assumptions],
    }
