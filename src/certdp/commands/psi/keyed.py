"""`certdp psi` about sampled keys: δ between neighbouring frequencies at an ε, and over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from ...accounting.accountants import LOSS_DISTRIBUTION, Bounds
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.pairs import FinitePair
from ...accounting.relations import Direction
from ...accounting.units import Epsilon
from ...data import refuse_without_file
from ...durable.files import write_whole
from ...runs.certificates import guarantee_certificate
from ...runs.declared import statement_of
from ...runs.keyed import KeyedRun
from ...runs.run import Answer as DeltaAnswer
from ...runs.run import Interval
from ..answer import Answer, assumptions_as_json, path_as_json
from ..composition import KeyedComposition
from ..outputs import check_places, checked_certificate
from ..page import Page
from .request import Request

_MOST_LISTED = 100
_SHOWN = 12
_WHY = (
    "IS Theorem 6 is not used: an element changes the frequency of its key, and with it the probability with which "
    "the key is sampled; the rows of neighbouring frequencies are compared instead"
)


@frozen(kw_only=True)
class _Compared:
    """δ between two neighbouring frequencies, both ways.

    Attributes:
        frequency: the larger one.
        remove: where the outcomes with the element are the likelier ones.
        add: where those without it are.
    """

    frequency: int
    remove: Interval
    add: Interval

    @classmethod
    def of(cls, frequency: int, pair: FinitePair, epsilon: Enclosure) -> _Compared:
        """The divergences of a pair at an ε."""
        ways = {"remove": Direction.REMOVE, "add": Direction.ADD}
        deltas = {name: pair.delta(epsilon, way).maximum(0) for name, way in ways.items()}
        return cls(
            frequency=frequency,
            **{name: Interval.of(Bounds(delta, two_sided=True)) for name, delta in deltas.items()},
        )

    def as_json(self) -> dict[str, object]:
        """Return the answer for programs, in JSON's types."""
        remove, add = ([one.lower, one.upper] for one in (self.remove, self.add))
        return {"frequency": self.frequency, "remove": remove, "add": add}


@frozen(kw_only=True)
class KeyedProfile(Answer):
    """δ between neighbouring frequencies, and over all of them.

    Attributes:
        release: the mechanism on a sample of keys.
        answer: δ over all frequencies.
        frequencies: the first of them.
        certificate: where it was written.
    """

    release: KeyedRun
    answer: DeltaAnswer[Any]
    frequencies: tuple[_Compared, ...]
    certificate: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        mechanism, sampler = (
            statement_of(plugin).as_json() for plugin in (self.release.mechanism, self.release.sampler)
        )
        answer, guarantee = self.answer, self.answer.guarantee
        return {
            "mechanism": mechanism,
            "sampler": sampler,
            "notion": guarantee.bound.notion.name,
            "unit": guarantee.unit.name,
            "epsilon": answer.epsilon.upper,
            "delta": [answer.delta.lower, answer.delta.upper],
            "frequencies": [one.as_json() for one in self.frequencies],
            "guarantee": {
                "kind": "differential privacy for keys of every frequency",
                "statement": answer.statement,
                "notion": guarantee.bound.notion.name,
                "unit": guarantee.unit.name,
                "relation": guarantee.relation.name,
                "theorem": str(guarantee.derivation),
                "why": _WHY,
            },
            "assumptions": assumptions_as_json(guarantee.assumptions),
            "certificate": path_as_json(self.certificate),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        answer, guarantee, numbers = self.answer, self.answer.guarantee, page.numbers
        mechanism, sampler = (plugin.about.name for plugin in (self.release.mechanism, self.release.sampler))
        page.keyed_run(mechanism, sampler)
        epsilon = numbers.most_or_stated(answer.epsilon.upper, answer.asked.value)
        rest = f" at ε = {epsilon} for one element of a key of any frequency"
        page.bold(f"δ ≤ {numbers.most(answer.delta.upper)}", rest)
        if answer.delta.lower is not None:
            ends = numbers.between(answer.delta.lower, answer.delta.upper)
            page.print(f"the supremum over all frequencies lies in {ends}", 2)
        page.print(f"{guarantee.bound.notion} DP, unit {guarantee.unit.name}, relation {guarantee.relation.name}", 2)
        page.print(str(guarantee.derivation), 2)
        page.print(_WHY, 2)
        page.table(
            ("frequency", "δ, with it against without", "δ, without against with"),
            [
                (str(one.frequency), *(numbers.most(delta.upper) for delta in (one.remove, one.add)))
                for one in self.frequencies[:_SHOWN]
            ],
        )
        hidden = len(self.frequencies) - _SHOWN
        if hidden > 0:
            page.print(f"and {hidden} more in --json", 2)
        page.files({"certificate": self.certificate})
        page.assumptions(guarantee.assumptions)


def keyed_profile(request: Request, given: KeyedComposition) -> KeyedProfile:
    """Compose, compare neighbouring rows, prove the supremum."""
    _refuse_what_records_need(request)
    check_places(None, request.places)
    if request.certificate is not None and request.epsilon is not None:
        raise InvalidValue(
            "certificate",
            str(request.certificate),
            "nothing, beside an ε",
            "This certificate states the (ε, δ) of the mechanism, at every frequency: leave --epsilon out, or ask "
            "`certdp delta --certificate`",
        )
    release = given.run_once()
    reporting = release.reporting
    epsilon = reporting.epsilon if request.epsilon is None else Epsilon(request.epsilon)
    answer = release.delta(epsilon, accountant=LOSS_DISTRIBUTION)
    last = _listed(request, release)
    if request.certificate is not None:
        write_whole(request.certificate, checked_certificate("certificate", guarantee_certificate(release)))
    level = Enclosure.of(epsilon.value, precision=release.precision)
    return KeyedProfile(
        release=release,
        answer=answer,
        frequencies=tuple(
            _Compared.of(frequency, pair, level)
            for frequency, pair in enumerate(release.neighbours(range(1, last + 1)), start=1)
        ),
        certificate=request.certificate,
    )


def _refuse_what_records_need(request: Request) -> None:
    refuse_without_file(request.reading)
    outside = None if request.outside == "clip" else request.outside
    for name, value, remedy in (
        (
            "data",
            request.data and ", ".join(map(str, request.data)),
            "What is lost does not depend on the data: leave the file out",
        ),
        ("outside", outside, "Leave it out: keys have no norm"),
        ("delta", request.delta, "Ask `certdp epsilon` for ε at a δ"),
        ("order", request.order, "No Rényi bound is finite: a key that one data set lacks may be reported"),
        ("owner-certificate", request.owner_certificate, "Leave it out: nothing here is computed from data"),
        ("owner-plot", request.owner_plot, "Leave it out: nothing here is computed from data"),
        ("plot", request.plot, "Leave it out; `certdp delta --plot` plots δ(ε)"),
    ):
        if value is not None:
            raise InvalidValue(name, str(value), "nothing, for keyed data", remedy)


def _listed(request: Request, release: KeyedRun) -> int:
    """The last frequency to list."""
    end = release.reporting.last
    if request.rows is None:
        return min(release.band + 1, _MOST_LISTED, end or _MOST_LISTED)
    if end is not None and request.rows > end:
        raise InvalidValue("rows", request.rows, f"at most {end}, the last frequency with a row of its own")
    return request.rows
