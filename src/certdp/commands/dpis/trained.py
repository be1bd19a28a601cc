"""What `certdp dpis train` answers: the statement of a run, and what is its owner's alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, frozen

from ...dpis.budget import RunPlan
from ...dpis.engine import Trained
from ...dpis.models.files import Split
from ..answer import Answer, assumptions_as_json, path_as_json
from ..page import Page
from ..run_certificates import Certificate as WrittenCertificate
from .models import Classifier
from .plan import theorems

_SEEDED = "coins were seeded, noise can be undone: every file is for the data's owner, not for publication"


@frozen(kw_only=True)
class Statement:
    """What may be published of a run; not where the data lie, and not a seed, from which noise can be undone.

    Attributes:
        plan: of the run.
        model: its name.
        features: the name of fixed features, or None.
        options: what to state for such a run, beside the data, a seed and the folder.
        result: the trained model, with its account.
    """

    plan: RunPlan
    model: str
    features: str | None
    options: Mapping[str, str | bool]
    result: Trained

    def as_json(self) -> dict[str, object]:
        """Return the statement for programs, and for the run's own folder."""
        result, guarantee, said = self.result, self.result.guarantee, self.result.statement
        return {
            "version": version("certdp"),
            "model": self.model,
            "features": self.features,
            "method": said.method,
            "private_coins": result.is_private,
            "notice": None if result.is_private else _SEEDED,
            "epsilon": None if guarantee is None else [None, guarantee.bound.epsilon.upper_float],
            "delta": None if guarantee is None else [None, guarantee.bound.delta.upper_float],
            "unit": "record",
            "relation": "add-remove",
            "theorem": None if guarantee is None else theorems(result.account.guarantee),
            "assumptions": [] if guarantee is None else assumptions_as_json(guarantee.assumptions),
            "paid": result.epsilon,
            "options": dict(self.options),
            "grids": [str(unit) for unit in said.grids],
            "coins": said.coins,
            "digest": said.digest,
            "epochs": result.history.columns(),
        }

    def show(self, page: Page) -> None:
        """Show the statement on the page, without assumptions."""
        result, guarantee, numbers = self.result, self.result.guarantee, page.numbers
        if guarantee is None:
            page.bold("not private", f": {_SEEDED}", indent=0)
        else:
            budget, bound = self.plan.budget, guarantee.bound
            epsilon = numbers.most_or_stated(bound.epsilon.upper_float, budget.epsilon.value)
            delta = numbers.most_or_stated(bound.delta.upper_float, budget.delta.value)
            page.bold(f"({epsilon}, {delta})-DP", " per record, under add/remove", indent=0)
            paid = numbers.most(result.epsilon)
            page.print(f"by {theorems(result.account.guarantee)}; this run has paid ε = {paid}", 2)
            page.print("what other runs on the same records cost, as to tune options, adds to this", 2)
        columns = result.history.columns()
        names = ("epoch", "noise_multiplier", "clip", "norm_sum", "rate", "steps", "epsilon")
        page.table(
            ("epoch", "σ_G", "C", "K̃", "rate", "steps", "ε paid"),
            [
                (str(epoch + 1), *map(numbers.about, middle), numbers.most(paid))
                for epoch, *middle, paid in zip(*(columns[name] for name in names), strict=True)
            ],
        )


@frozen(kw_only=True)
class OwnersFigures:
    """What the data's owner may know about a run."""

    seed: int | None
    n: int
    train_accuracy: float
    test_accuracy: float | None
    mean_accepted: float | None
    mean_proposed: float | None
    dropped: int
    stale_bias: float | None

    @classmethod
    def of(cls, seed: int | None, split: Split, model: Classifier, result: Trained) -> OwnersFigures:
        """The figures of a run."""
        steps = result.history.private_columns().reveal()
        return cls(
            seed=seed,
            n=len(split.train),
            train_accuracy=model.train_accuracy(),
            test_accuracy=model.test_accuracy(),
            mean_accepted=_mean(steps["accepted"]),
            mean_proposed=_mean(steps["proposed"]),
            dropped=int(sum(steps["dropped"])),
            stale_bias=_mean(steps["stale_bias"]),
        )

    def as_json(self) -> dict[str, object]:
        """Return the figures in JSON's types, with a notice of what they are."""
        return {"notice": "computed from the records: for the data's owner, not for publication", **asdict(self)}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        shown = ("train_accuracy", "test_accuracy", "mean_proposed", "mean_accepted", "dropped", "stale_bias")
        known = [(name, getattr(self, name)) for name in shown]
        page.owners([(name.replace("_", " "), page.numbers.about(value)) for name, value in known if value is not None])


@frozen(kw_only=True)
class TrainedModel(Answer):
    """A model that was trained and written.

    Attributes:
        statement: what may be published.
        owners: what may not.
        certificate: where it is.
        certified: what it proves.
    """

    statement: Statement
    owners: OwnersFigures
    certificate: Path | None
    certified: WrittenCertificate | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {
            **self.statement.as_json(),
            "certificate": path_as_json(self.certificate),
            "certified": None if self.certified is None else self.certified.as_json(),
            "private": self.owners.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        self.statement.show(page)
        page.files({"certificate": self.certificate})
        if self.certified is not None:
            self.certified.show(page)
        guarantee = self.statement.result.guarantee
        if guarantee is not None:
            page.assumptions(guarantee.assumptions)
        self.owners.show(page)


def _mean(values: list[Any]) -> float | None:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else None
