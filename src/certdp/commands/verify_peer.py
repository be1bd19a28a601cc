"""`certdp verify-peer`: whether a run that another tool describes keeps the (ε, δ) that is claimed of it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, cast

import typer
from attrs import frozen

from ..accounting import units
from ..accounting.derivation import Assumption
from ..accounting.errors import InvalidValue
from ..accounting.relations import ADD_REMOVE, REPLACE
from ..durable.files import published
from ..interoperation.claims import ClaimVerdict, Finding, judged
from ..interoperation.peer_files import PeerRun, read_peer_file
from ..interoperation.proven_claims import certified_event
from ..runs.calibration import Budget
from ..runs.certificates import Certified
from .answer import Answer, assumptions_as_json, path_as_json
from .answering import application
from .options import Certificate as CertificateFile
from .options import Epsilon
from .outputs import check_places
from .page import Page
from .run_certificates import Certificate, write_certified

_RELATIONS = {relation.name: relation for relation in (ADD_REMOVE, REPLACE)}
_EXIT_CODES = {Finding.HOLDS: 0, Finding.REFUTED: 1, Finding.UNDECIDED: 3}


@frozen(kw_only=True)
class PeerVerdict(Answer):
    """What is proven of another tool's claim.

    Attributes:
        file: what describes the run.
        peer: the run.
        claimed: (ε, δ).
        stated: the same in the words of the command line: rounded, the verdict would be about another claim.
        relation: the change of the data that is protected against.
        verdict: what is proven.
        certificate: where its certificate was written; None where none was.
        certified: what that proves.
        refused: why none was written, where one was asked for and the claim holds.
    """

    file: Path
    peer: PeerRun
    claimed: Budget
    stated: tuple[str, str]
    relation: str
    verdict: ClaimVerdict
    certificate: Path | None
    certified: Certificate | None
    refused: str | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        lower, upper = self.verdict.epsilon.lower, self.verdict.epsilon.upper
        answer = self.verdict.answer
        return {
            "file": str(self.file),
            "digest": f"sha256:{self.peer.digest}",
            "source": self.peer.source.value,
            "releases": self.peer.event.releases,
            "relation": self.relation,
            "claimed": {"epsilon": str(self.claimed.epsilon.value), "delta": str(self.claimed.delta.value)},
            "verdict": self.verdict.finding.value,
            "epsilon": [lower, upper if isfinite(upper) else None],
            "accountant": None if answer is None else answer.accountant.name,
            "assumptions": assumptions_as_json(self._assumptions),
            "certificate": path_as_json(self.certificate),
            "certified": None if self.certified is None else self.certified.as_json(),
            "refused": self.refused,
        }

    @property
    def _assumptions(self) -> list[Assumption]:
        return list(dict.fromkeys((*self.peer.assumptions, *self.peer.event.assumptions)))

    def show(self, page: Page) -> None:
        """Show the verdict on the page, for people."""
        numbers, claimed, verdict = page.numbers, self.claimed, self.verdict
        page.print(f"{self.peer.event.releases:,} releases, as {self.peer.source.value} describes them in {self.file}")
        page.bold(f"({self.stated[0]}, {self.stated[1]})-DP: {verdict.finding.value}")
        lower, upper = verdict.epsilon.lower, verdict.epsilon.upper
        if not isfinite(upper):
            page.print("no finite ε is proven at this δ", 2)
        elif lower is None:
            page.print(f"the true ε is at most {numbers.most(upper)}; no lower end is proven", 2)
        else:
            page.print(f"the true ε lies in {numbers.between(lower, upper)}", 2)
        if verdict.answer is not None:
            page.print(f"by {verdict.answer.accountant.name} accounting", 2)
        page.print(f"unit record, relation {self.relation}", 2)
        page.files({"certificate": self.certificate})
        if self.refused is not None:
            page.print(f"no certificate: {self.refused}", 2)
        if self.certified is not None:
            self.certified.show(page)
            if self.certified.epsilon > claimed.epsilon.value:
                page.print("more than is claimed: no method of the independent checker is as sharp", 2)
        page.assumptions(self._assumptions)

    @property
    def exit_code(self) -> int:
        """0 holds, 1 refuted, 3 neither is proven."""
        return _EXIT_CODES[self.verdict.finding]


def verify_peer(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A dp_accounting event or the state of an Opacus accountant, in JSON or as torch saves it.",
        ),
    ],
    epsilon: Epsilon,
    *,
    delta: Annotated[str, typer.Option(metavar="D", help="The δ that goes with it.")] = "0",
    relation: Annotated[
        str, typer.Option(metavar="add-remove|replace", help="The change of the data that the claim is about.")
    ] = ADD_REMOVE.name,
    certificate: CertificateFile = None,
) -> PeerVerdict:
    """Whether a run that another tool describes keeps the (ε, δ) claimed of it.

    Nothing of the other tool is needed, and nothing in the file is executed. A certificate is written where the claim
    holds. What the file leaves out, such as how batches are drawn, is stated as an assumption.

    Exit codes: 0 the claim holds, 1 it is refuted, 3 neither is proven, 2 bad input.
    """
    if relation not in _RELATIONS:
        raise InvalidValue("relation", relation, " or ".join(_RELATIONS))
    check_places(None, {"certificate": certificate})
    claimed = Budget(epsilon=units.Epsilon(epsilon), delta=units.Delta(delta))
    peer = read_peer_file(file)
    verdict = judged(peer.run(_RELATIONS[relation]), claimed.epsilon, claimed.delta)
    found, refused = None, None
    if certificate is not None and verdict.finding is Finding.HOLDS:
        try:
            found = _certified(peer, claimed, relation)
        except InvalidValue as error:  # the verdict stands, whatever can be certified
            refused = str(error)
    place = None if found is None else certificate
    with published() as files:
        proven = write_certified(files, place, lambda: cast(Certified, found))
    return PeerVerdict(
        file=file,
        peer=peer,
        claimed=claimed,
        stated=(epsilon, delta),
        relation=relation,
        verdict=verdict,
        certificate=place,
        certified=proven,
        refused=refused,
    )


def _certified(peer: PeerRun, claimed: Budget, relation: str) -> Certified:
    if relation != ADD_REMOVE.name:
        raise InvalidValue("relation", relation, ADD_REMOVE.name, "There is no kind of certificate yet for others")
    return certified_event(peer.event, claimed, peer.assumptions)


command = application(verify_peer)
