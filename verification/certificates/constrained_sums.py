"""Writing certificates of Gaussian sums whose weights are the largest within a target at a δ or a Rényi order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...accounting.derivation import Assumption
from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import ratio_text
from ...accounting.expressions import Expression, serialise
from ...accounting.feasible_weights import ApproximateTarget, GaussianTarget, RenyiTarget
from ...accounting.feasible_weights.plans import on_one_sample, samples
from ...accounting.feasible_weights.rates import GaussianConstrainedRate
from ...accounting.notions import APPROXIMATE
from ...accounting.relations import ADD_REMOVE, RECORD
from ...accounting.sampling.domains import NormBall
from ..checker import check
from .plugin_statements import PluginStatement
from .writing import FORMAT, Json, domain_as_json, sealed, versions


def constrained_sum_certificate(
    shift: Expression,
    rate: GaussianConstrainedRate,
    domain: NormBall,
    plugins: tuple[PluginStatement, PluginStatement],
    assumptions: Sequence[Assumption],
) -> bytes:
    """A publishable certificate that no record of a domain loses more than the target, accepted by the checker.

    Args:
        shift: by how many standard deviations a record of weight W moves the sum.
        rate: how records are drawn, on that domain.
        domain: every record of it is within the target at weight 1.
        plugins: the statements of mechanism and sampler.
        assumptions: what the guarantee rests on: the public constants, and how many releases there are.

    Raises:
        InvalidValue: where the checker does not prove that every record of the domain can be drawn.
    """
    kind, proof, claim = _target(rate.aim)
    mechanism, sampler = plugins
    content = sealed(
        {
            "format": FORMAT,
            "kind": kind,
            "audience": "public",
            "theorem": f"IS Problem 7 and {proof}",
            "claim": {
                "unit": RECORD.name,
                "relation": ADD_REMOVE.name,
                "domain": domain_as_json(domain),
                **claim,
            },
            "inputs": {
                "shift": serialise(shift),
                "largest_shift": ratio_text(Fraction(rate.domain_shift or 0)),
                "largest_weight": None if rate.largest is None else ratio_text(Fraction(rate.largest)),
                "samples": samples(rate.releases),
                "releases_on_a_sample": on_one_sample(rate.releases),
            },
            "mechanism": mechanism.as_json(),
            "sampler": sampler.as_json(),
            "assumptions": [{"name": a.name, "value": a.value} for a in assumptions],
            "versions": versions(),
        }
    )
    verdict = check(content)
    if verdict.accepted:
        return content
    raise InvalidValue(
        "certificate",
        "a target that the checker does not prove to be kept at weight 1",
        "one that it proves for every record of the domain",
        f"It says: {verdict.reason}. Raise the target a little, or leave the certificate out",
    )


def _target(aim: GaussianTarget) -> tuple[str, str, Json]:
    """The kind of certificate, what the checker proves by, and the numbers of the claim."""
    match aim:
        case ApproximateTarget(epsilon=epsilon, delta=delta):
            claim = {"notion": APPROXIMATE.name, "epsilon": ratio_text(epsilon), "delta": ratio_text(delta)}
            return "constrained-approximate", "hockey-stick divergence of the dominating pair after sampling", claim
        case RenyiTarget(order=order, tau=tau):
            claim = {"notion": "renyi", "order": ratio_text(order), "tau": ratio_text(tau)}
            return "constrained-renyi", "Mironov 2017, Proposition 1", claim
    raise InvalidType("target", aim, "a target at a δ or at a Rényi order")
