"""`certdp verify-peer`: whether a run that a file describes keeps the (ε, δ) that is claimed of it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, cast

import typer
from attrs import frozen

from ..accounting import units
from ..accounting.errors import InvalidValue
from ..accounting.relations import ADD_REMOVE, REPLACE
from ..durable.files import published
from ..interoperation.claims import ClaimVerdict, Finding, judged
from ..runs.calibration import Budget
from ..runs.certificates import Certified
from .answer import Answer, assumptions_as_json, path_as_json
from .answering import application
from .options import Certificate as CertificateFile
from .options import Epsilon
from .outputs import check_places
from .page import Page
from .requests import Admission
from .run_certificates import Certificate, write_certified
from .run_files import DescribedRun, described_run

_RELATIONS = {relation.name: relation for relation in (ADD_REMOVE, REPLACE)}
_EXIT_CODES = {Finding.HOLDS: 0, Finding.REFUTED: 1, Finding.UNDECIDED: 3}


@frozen(kw_only=True)
class PeerVerdict(Answer):
    """What is proven of a claim.

    Attributes:
        file: what describes the run.
        described: the run.
        claimed: (ε, δ).
        stated: the same in the words of the command line: rounded, the verdict would be about another claim.
        verdict: what is proven.
        certificate: where its certificate was written; None where none was.
        certified: what that proves.
        refused: why none was written, where one was asked for and the claim holds.
    """

    file: Path
    described: DescribedRun
    claimed: Budget
    stated: tuple[str, str]
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
            "digest": f"sha256:{self.described.digest}",
            "source": self.described.source,
            "releases": self.described.releases,
            "unit": self.described.run.unit.name,
            "relation": self.described.run.relation.name,
            "claimed": {"epsilon": str(self.claimed.epsilon.value), "delta": str(self.claimed.delta.value)},
            "verdict": self.verdict.finding.value,
            "epsilon": [lower, upper if isfinite(upper) else None],
            "accountant": None if answer is None else answer.accountant.name,
            "assumptions": assumptions_as_json(self.described.assumptions),
            "certificate": path_as_json(self.certificate),
            "certified": None if self.certified is None else self.certified.as_json(),
            "refused": self.refused,
        }

    def show(self, page: Page) -> None:
        """Show the verdict on the page, for people."""
        numbers, claimed, verdict = page.numbers, self.claimed, self.verdict
        run = self.described.run
        page.print(f"{self.described.releases:,} releases, as {self.described.source} describes them in {self.file}")
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
        page.print(f"unit {run.unit.name}, relation {run.relation.name}", 2)
        page.files({"certificate": self.certificate})
        if self.refused is not None:
            page.print(f"no certificate: {self.refused}", 2)
        if self.certified is not None:
            self.certified.show(page)
            if self.certified.epsilon > claimed.epsilon.value:
                page.print("more than is claimed: no method of the independent checker is as sharp", 2)
        page.assumptions(self.described.assumptions)

    @property
    def exit_code(self) -> int:
        """0 holds, 1 refuted, 3 neither is proven."""
        return _EXIT_CODES[self.verdict.finding]


def verify_peer(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A dp_accounting event or the state of an accountant of Opacus or Flower, in JSON or as torch "
            "saves it; or a plan, NAME.toml, as `certdp epsilon --plan` takes it.",
        ),
    ],
    epsilon: Epsilon,
    *,
    delta: Annotated[str, typer.Option(metavar="D", help="The δ that goes with it.")] = "0",
    relation: Annotated[
        str, typer.Option(metavar="add-remove|replace", help="The change of the data that the claim is about.")
    ] = ADD_REMOVE.name,
    certificate: CertificateFile = None,
    admission: Admission,
) -> PeerVerdict:
    """Whether a run that another tool or a plan describes keeps the (ε, δ) claimed of it.

    Nothing of the other tool is needed, and nothing in the file is executed. A certificate is written where the claim
    holds. What the file leaves out, such as how batches are drawn, is stated as an assumption.

    Exit codes: 0 the claim holds, 1 it is refuted, 3 neither is proven, 2 bad input.
    """
    if relation not in _RELATIONS:
        raise InvalidValue("relation", relation, " or ".join(_RELATIONS))
    check_places(None, {"certificate": certificate})
    claimed = Budget(epsilon=units.Epsilon(epsilon), delta=units.Delta(delta))
    described = described_run(file, _RELATIONS[relation], admission)
    verdict = judged(described.run, claimed.epsilon, claimed.delta)
    found, refused = None, None
    if certificate is not None and verdict.finding is Finding.HOLDS:
        try:
            found = described.certified(claimed, verdict.epsilon.upper)
        except InvalidValue as error:  # the verdict stands, whatever can be certified
            refused = str(error)
    place = None if found is None else certificate
    with published() as files:
        proven = write_certified(files, place, lambda: cast(Certified, found))
    return PeerVerdict(
        file=file,
        described=described,
        claimed=claimed,
        stated=(epsilon, delta),
        verdict=verdict,
        certificate=place,
        certified=proven,
        refused=refused,
    )


command = application(verify_peer)
