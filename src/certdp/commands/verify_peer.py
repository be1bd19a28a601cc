"""`certdp verify-peer`: whether a run that a file describes keeps the (ε, δ) that is claimed of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Annotated, TypeAlias, cast

import typer
from attrs import asdict, frozen

from ..accounting import units
from ..accounting.errors import InvalidValue
from ..accounting.exact import exact
from ..accounting.notions import GaussianDP, Renyi, ZeroConcentrated
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..durable.files import published
from ..interoperation.claims import ClaimVerdict, Finding, judged, judged_in
from ..runs.calibration import Budget
from ..runs.certificates import Certified
from .answer import Answer, assumptions_as_json, path_as_json
from .answering import application
from .ledger.options import StatedBound
from .options import Certificate as CertificateFile
from .outputs import check_places
from .page import Page
from .requests import Admission
from .run_certificates import Certificate, write_certified
from .run_files import DescribedRun, described_run

_OtherBound: TypeAlias = Renyi | ZeroConcentrated | GaussianDP
_SIGNS = {"epsilon": "ε", "tau": "τ", "rho": "ρ", "mu": "μ"}
_RELATIONS = {relation.name: relation for relation in (ADD_REMOVE, REPLACE, ZERO_OUT)}
_EXIT_CODES = {Finding.HOLDS: 0, Finding.REFUTED: 1, Finding.UNDECIDED: 3}


@frozen(kw_only=True)
class PeerVerdict(Answer):
    """What is proven of a claim.

    Attributes:
        file: what describes the run.
        described: the run.
        claimed: (ε, δ), or a bound in another notion: numbers by name, exactly.
        stated: the same in the words of the command line: rounded, the verdict would be about another claim.
        verdict: what is proven.
        certificate: where its certificate was written; None where none was.
        certified: what that proves.
        refused: why none was written, where one was asked for and the claim holds.
    """

    file: Path
    described: DescribedRun
    claimed: Mapping[str, Fraction]
    stated: str
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
            "claimed": {name: str(value) for name, value in self.claimed.items()},
            "verdict": self.verdict.finding.value,
            self._parameter: [lower, upper if isfinite(upper) else None],
            "lower_end": self.verdict.lower_end,
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
        page.bold(f"{self.stated}: {verdict.finding.value}")
        lower, upper, sign = verdict.epsilon.lower, verdict.epsilon.upper, _SIGNS[self._parameter]
        if not isfinite(upper):
            page.print("no finite ε is proven at this δ", 2)
        elif lower is None:
            page.print(f"the true {sign} is at most {numbers.most(upper)}; no lower end is proven", 2)
        else:
            page.print(f"the true {sign} lies in {numbers.between(lower, upper)}", 2)
        page.lower_end(verdict.lower_end)
        if verdict.answer is not None:
            page.print(f"by {verdict.answer.accountant.name} accounting", 2)
        page.print(f"unit {run.unit.name}, relation {run.relation.name}", 2)
        page.files({"certificate": self.certificate})
        if self.refused is not None:
            page.print(f"no certificate: {self.refused}", 2)
        if self.certified is not None:
            self.certified.show(page)
            if self.certified.parameters[self._parameter] > claimed[self._parameter]:
                page.print("more than is claimed: no method of the independent checker is as sharp", 2)
        page.assumptions(self.described.assumptions)

    @property
    def _parameter(self) -> str:
        """The number that is proven: of (ε, δ) it is ε."""
        return next(name for name in self.claimed if name not in ("delta", "order"))

    @property
    def exit_code(self) -> int:
        """0 holds, 1 refuted, 3 neither is proven."""
        return _EXIT_CODES[self.verdict.finding]


@frozen(kw_only=True)
class ClaimOptions(StatedBound):
    """What is claimed: an ε with its δ, a τ with its order, a ρ or a μ."""

    @property
    def claimed(self) -> Budget | _OtherBound:
        """What is claimed of the run.

        Raises:
            InvalidValue: for none, several, or half of one, and for numbers out of range.
        """
        if self.epsilon is not None and (self.rho, self.mu, self.order, self.tau) == (None,) * 4:
            return Budget(epsilon=units.Epsilon(self.epsilon), delta=units.Delta(self.delta or "0"))
        found: _OtherBound = self.bound()
        return found

    @property
    def numbers(self) -> Mapping[str, Fraction]:
        """The numbers of the claim by name, exactly."""
        stated = {name: exact(value, parameter=name) for name, value in asdict(self).items() if value is not None}
        return {"delta": Fraction(0), **stated} if self.epsilon is not None else stated

    @property
    def words(self) -> str:
        """The claim, as it was stated."""
        if self.epsilon is not None:
            return f"({self.epsilon}, {self.delta or '0'})-DP"
        if self.order is not None:
            return f"({self.order}, {self.tau})-Rényi DP"
        return f"{self.rho}-zCDP" if self.rho is not None else f"{self.mu}-Gaussian DP"


def _verdict(described: DescribedRun, claimed: Budget | _OtherBound) -> ClaimVerdict:
    if isinstance(claimed, Budget):
        return judged(described.run, claimed.epsilon, claimed.delta)
    return judged_in(described.run, claimed)


def verify_peer(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A dp_accounting event or the state of an accountant of Opacus or Flower, in JSON or as torch "
            "saves it; or a plan, NAME.toml, as `certdp epsilon --plan` takes it.",
        ),
    ],
    *,
    claim: ClaimOptions,
    relation: Annotated[
        str, typer.Option(metavar="add-remove|replace|zero-out", help="The change of the data that the claim is about.")
    ] = ADD_REMOVE.name,
    certificate: CertificateFile = None,
    admission: Admission,
) -> PeerVerdict:
    """Whether a run that another tool or a plan describes keeps what is claimed of it: an (ε, δ), or a τ, ρ or μ.

    Nothing of the other tool is needed, and nothing in the file is executed. A certificate is written where the claim
    holds. What the file leaves out, such as how batches are drawn, is stated as an assumption.

    Exit codes: 0 the claim holds, 1 it is refuted, 3 neither is proven, 2 bad input.
    """
    if relation not in _RELATIONS:
        raise InvalidValue("relation", relation, " or ".join(_RELATIONS))
    check_places(None, {"certificate": certificate})
    claimed = claim.claimed
    described = described_run(file, _RELATIONS[relation], admission)
    verdict = _verdict(described, claimed)
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
        claimed=claim.numbers,
        stated=claim.words,
        verdict=verdict,
        certificate=place,
        certified=proven,
        refused=refused,
    )


command = application(verify_peer)
