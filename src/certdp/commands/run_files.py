"""The run that a file describes: what another tool wrote, or a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from ..accounting.derivation import Assumption
from ..accounting.notions import Bound
from ..accounting.relations import Change
from ..interoperation.peer_files import PeerRun, described_by, read_peer_file
from ..interoperation.proven_claims import certified_event
from ..runs.calibration import Budget
from ..runs.certificates import Certified, certified_described
from ..runs.run import Run
from .requests import Admission

_PLAN = ".toml"


def _once(assumptions: Iterable[Assumption]) -> tuple[Assumption, ...]:
    return tuple(dict.fromkeys(assumptions))


@frozen(kw_only=True)
class DescribedRun:
    """A run that a file describes.

    Attributes:
        source: who describes it.
        digest: SHA-256 of the file.
        releases: how many there are.
        run: to ask ε and δ of.
        assumptions: what all of it rests on.
    """

    source: str
    digest: str
    releases: int
    run: Run[Any]
    assumptions: tuple[Assumption, ...] = field(converter=_once)
    _certified: Callable[[Budget | Bound, float], Certified] = field(alias="certified", repr=False)

    def certified(self, claimed: Budget | Bound, upper: float) -> Certified:
        """A certificate that the run keeps what is claimed.

        Args:
            claimed: (ε, δ), or a bound in another notion.
            upper: the proven upper end of the run's ε at that δ, or of its τ, ρ or μ; at most the one claimed.

        Raises:
            InvalidValue: where no kind of certificate states the run.
        """
        return self._certified(claimed, upper)


def described_run(path: Path, relation: Change, admission: Admission) -> DescribedRun:
    """Read the run that a file describes: a plan where its name ends in .toml, else what another tool wrote.

    Args:
        path: the file.
        relation: the change of the data that is asked about.
        admission: whose plugins a plan may name.

    Raises:
        InvalidValue: for a file that cannot be read or describes what is not covered, and for a relation that the run
            has no guarantee under.
        PluginError: for a plugin that is unknown or cannot be used.
    """
    if path.suffix.lower() == _PLAN:
        return _of_plan(path, relation, admission)
    peer = read_peer_file(path)
    return DescribedRun(
        source=peer.source.value,
        digest=peer.digest,
        releases=peer.event.releases,
        run=peer.run(relation),
        assumptions=[*peer.assumptions, *peer.event.assumptions],
        certified=partial(_of_event, peer, relation),
    )


def _of_plan(path: Path, relation: Change, admission: Admission) -> DescribedRun:
    from .plan_files import stated_plan

    stated = stated_plan(path, admission, relation=relation.name)
    plan, told = stated.plan, described_by(stated.digest)
    return DescribedRun(
        source="a plan",
        digest=stated.digest,
        releases=sum(part.steps for part in plan.parts),
        run=plan,
        assumptions=[told, *plan.derivation.assumptions],
        certified=lambda claimed, upper: certified_described(plan, claimed, upper, [told]),
    )


def _of_event(peer: PeerRun, relation: Change, claimed: Budget | Bound, upper: float) -> Certified:
    return certified_event(peer.event, claimed, upper, peer.assumptions, relation)
