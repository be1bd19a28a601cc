"""`certdp risk`: what the best attacker learns about one record, as rates that people decide by."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, cast

import typer
from attrs import frozen

from ..accounting.accountants import BEST
from ..accounting.enclosures import Enclosure
from ..accounting.errors import blamed_on
from ..accounting.exact import exact
from ..durable.files import Rank, published
from ..runs.as_declared import lower_ends_of
from ..runs.risk import Risk
from ..runs.risk import risk as risk_of
from ..runs.run import Run
from .account import AnyRun, Request, accountant_of, released_as_json, requested, show_released
from .answer import Answer, assumptions_as_json, domain_as_json, path_as_json
from .answering import application
from .digits import Numbers
from .outputs import check_places
from .page import Page, whom
from .run_certificates import Certificate, write_certificate


@frozen(kw_only=True)
class RiskAnswer(Answer):
    """What a run tells about one record.

    Attributes:
        request: what was asked.
        run: the releases.
        risk: what is proven.
        false_positive_rate: at which the true-positive rate is stated.
        prior: at which the Bayes risk is stated.
        true_positive_rate: enclosed.
        bayes_risk: enclosed.
        certified: what the certificate proves, where one was written.
    """

    request: Request
    run: AnyRun
    risk: Risk[Any]
    false_positive_rate: Fraction
    prior: Fraction
    true_positive_rate: Enclosure
    bayes_risk: Enclosure
    certified: Certificate | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        derivation = self.risk.derivation
        return {
            **released_as_json(self.request, self.run),
            "advantage": _ends(self.risk.advantage),
            "false_positive_rate": float(self.false_positive_rate),
            "true_positive_rate": _ends(self.true_positive_rate),
            "prior": float(self.prior),
            "bayes_risk": _ends(self.bayes_risk),
            "lower_end": lower_ends_of(self.run),
            "accountant": self.risk.accountant.name,
            "guarantee": {
                "unit": self.run.unit.name,
                "relation": self.run.relation.name,
                "derivation": str(derivation),
                "domain": domain_as_json(self.run.domain),
            },
            "assumptions": assumptions_as_json(derivation.assumptions),
            "certificate": path_as_json(self.request.certificate),
            "plot": path_as_json(self.request.plot),
            "certified": None if self.certified is None else self.certified.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        numbers = page.numbers
        show_released(page, self.request, self.run)
        advantage, found, wrong = self.risk.advantage, self.true_positive_rate, self.bayes_risk
        page.bold(f"membership advantage ≤ {numbers.most(advantage.upper_float)}")
        page.print(f"the true one lies in {_between(numbers, advantage)}", 4)
        at = numbers.stated(self.false_positive_rate)
        page.bold(f"true-positive rate ≤ {numbers.most(found.upper_float)} at false-positive rate {at}")
        page.print(f"that of the trade-off curve lies in {_between(numbers, found)}", 4)
        page.bold(f"Bayes risk ≥ {numbers.least(wrong.lower_float)} at prior {numbers.stated(self.prior)}")
        page.print(f"that of the trade-off curve lies in {_between(numbers, wrong)}", 4)
        page.lower_end(lower_ends_of(self.run))
        if self.run.domain is not None:
            page.print(f"for {whom(self.run.domain)}", 2)
        page.print(f"by {self.risk.accountant} accounting", 2)
        page.print(f"unit {self.run.unit.name}, relation {self.run.relation.name}", 2)
        page.print(str(self.risk.derivation), 2)
        page.files({"certificate": self.request.certificate})
        if self.certified is not None:
            self.certified.show(page)
        page.files({"plot": self.request.plot})
        page.assumptions(self.risk.derivation.assumptions)


def _between(numbers: Numbers, found: Enclosure) -> str:
    return numbers.between(found.lower_float, found.upper_float)


def _ends(found: Enclosure) -> list[float]:
    return [found.lower_float, found.upper_float]


def risk(
    *,
    false_positive_rate: Annotated[
        str, typer.Option(metavar="A", help="The share of non-members that a test accuses, in [0, 1].")
    ] = "0.01",
    prior: Annotated[str, typer.Option(metavar="P", help="How probable membership is beforehand, in [0, 1].")] = "0.5",
    request: Request,
) -> RiskAnswer:
    """What an attacker learns about a record: proven rates of the best test, from both sides.

    The membership advantage is the most by which true positives exceed false ones; the true-positive rate is the share
    of members that are found; the Bayes risk is how often the best guess is wrong.
    """
    rate, before = exact(false_positive_rate, parameter="false-positive-rate"), exact(prior, parameter="prior")
    accountant = accountant_of(request.accountant)
    check_places(None, {"plot": request.plot, "certificate": request.certificate})
    run = requested(request)
    found = risk_of(cast("Run[Any]", run), accountant=None if accountant == BEST else accountant)
    with blamed_on(false_positive_rate="false-positive-rate"):
        members, wrong = found.true_positive_rate(rate), found.bayes_risk(before)
    with published() as files:
        if request.plot is not None:
            from ..plots.runs import plot_risk

            files.write(request.plot, plot_risk(found), Rank.STATEMENT)
        certified = write_certificate(files, request.certificate, run, found.limits_at(rate, before))
    return RiskAnswer(
        request=request,
        run=run,
        risk=found,
        false_positive_rate=rate,
        prior=before,
        true_positive_rate=members,
        bayes_risk=wrong,
        certified=certified,
    )


command = application(risk)
