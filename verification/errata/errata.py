"""The misprints and gaps of the three papers: what is printed, what holds, and the controls that reproduce each.

A control is a claim that states the printed form and must be rejected; it names its row by `Claim.erratum`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from attrs import field, frozen

from ...accounting.errors import InvalidValue
from ...plugins.contract import Claim
from ..running.selection import chosen

_PAPERS = ("IS", "PWS", "DPIS")


def _of_a_paper(_: object, __: object, value: str) -> None:
    if value.partition("-")[0] not in _PAPERS:
        raise InvalidValue("id", value, f"one that begins with {', '.join(_PAPERS[:-1])} or {_PAPERS[-1]} and a dash")


@final
@frozen(kw_only=True)
class Erratum:
    """A place where a paper does not say what holds.

    Attributes:
        id: paper and place, such as "IS-Eq4".
        statement: the statement that it concerns.
        printed: what the paper has.
        holds: what holds.
        unwitnessed: why no case can contradict what is printed, None where controls do.
    """

    id: str = field(validator=_of_a_paper)
    statement: str
    printed: str
    holds: str
    unwitnessed: str | None = None

    @property
    def paper(self) -> str:
        """The short name of the paper with the erratum."""
        return self.id.partition("-")[0]


@final
@frozen(kw_only=True)
class Entry:
    """A row of the table, and the claims that reproduce what is printed.

    Attributes:
        id: of the erratum.
        erratum: the row, None where the id is known from claims of other distributions alone.
        controls: what must be rejected.
    """

    id: str
    erratum: Erratum | None
    controls: tuple[Claim, ...]


def entries(claims: Iterable[Claim], *patterns: str) -> tuple[Entry, ...]:
    """The rows with their controls, then the ids that only claims mention.

    Args:
        claims: where to look for controls.
        patterns: globs; rows are taken where the id of the erratum or of one of its controls matches. Without any, all.

    Raises:
        InvalidValue: for a glob that no row matches; it names ids close to it.
    """
    controls: dict[str, list[Claim]] = {erratum.id: [] for erratum in ERRATA}
    for claim in claims:
        if claim.erratum is not None:
            controls.setdefault(claim.erratum, []).append(claim)
    rows = {erratum.id: erratum for erratum in ERRATA}
    found = [Entry(id=id, erratum=rows.get(id), controls=tuple(own)) for id, own in controls.items()]
    return chosen(found, _names, patterns, "row of the errata or a control")


def _names(entry: Entry) -> tuple[str, ...]:
    return (entry.id, *(claim.id for claim in entry.controls))


ERRATA: tuple[Erratum, ...] = (
    Erratum(
        id="IS-T6-proof",
        statement="Theorem 6, last lines of the proof",
        printed="the factor between the two laws is e^{1/q(x)}",
        holds="it is e^{ε(1/q(x), x)}, as the theorem itself has it",
    ),
    Erratum(
        id="IS-q_core",
        statement="Section 4, coreset sampling",
        printed="q(x) is computed with n, x̃, r and the centre of the data that are sampled",
        holds="Definition 5 wants q fixed before the data are seen: n, x̃, r and the centre are public constants, or "
        "released at a cost of their own",
    ),
    Erratum(
        id="IS-m-limit",
        statement="Section 4, coreset sampling",
        printed="q is a probability for m ≤ n·x̃/r²",
        holds="q is a probability for m ≤ n/(λ + (1 − λ)r²/x̃), where 0 < λ ≤ 1; at λ = 0 the supremum is infinite",
    ),
    Erratum(
        id="IS-Eq5",
        statement="Equation 5",
        printed="the ε of the sampled algorithm is the largest ψ on a grid of norms",
        holds="a grid bounds the supremum from below; an upper bound needs interval subdivision or a proof",
    ),
    Erratum(
        id="IS-A1-line6",
        statement="Algorithm 1, line 6",
        printed="the bracket ends at b = 2(e^{ε*} − v̄)/μ + 1",
        holds="it ends at b = 2((e^{ε*} − v̄)/μ + 1), as the proof of Proposition 12 derives it",
    ),
    Erratum(
        id="IS-A1-line7",
        statement="Algorithm 1, line 7",
        printed="where ε(1) = ε*, the root w = 1 is left behind if ε'(1) < 0",
        holds="it is left behind if ε'(1) < 1 − e^{−ε(1)}, the first case of the proof",
    ),
    Erratum(
        id="IS-bisection",
        statement="Algorithm 1, bisection",
        printed="the middle of the last bracket is returned",
        holds="its feasible end is to be returned: the middle exceeds ε* for about half of all records",
    ),
    Erratum(
        id="IS-P12",
        statement="Proposition 12",
        printed="log₂((e^{ε*} − v̄)/(αμ)) evaluations reach the accuracy α",
        holds="log₂((b − 1)/α) evaluations do, with the bracket that is long enough",
    ),
    Erratum(
        id="IS-Eq4",
        statement="Equation 4",
        printed="e^ε is μ-strongly convex with μ = T²(1/β_count + ‖x‖/β_sum)·e^A, A = T(1/β_count + ‖x‖/β_sum)",
        holds="the bracket is squared, μ = A²e^A; where it is below 1 the printed μ is too large, and the bracket of "
        "Algorithm 1 misses the root",
    ),
    Erratum(
        id="IS-noise",
        statement="Section 4, noise of the sums",
        printed="noise of density ∝ exp(−‖ζ‖_p/β) is drawn with an exponential radius",
        holds="the radius has the law Gamma(d, β), the direction the cone measure of the ℓ_p ball",
    ),
    Erratum(
        id="IS-β",
        statement="Section 5, noise scales",
        printed="β_count = ∛(4dρ²)·β_sum",
        holds="a fresh derivation of the split count : dimension = ∛(4dρ²) : 1 gives β_count = β_sum/(r∛(4dρ²)); the "
        "printed one reproduces the paper's runs",
        unwitnessed="either split costs what Proposition 13 says: it decides how well the centres come out, not "
        "whether a bound holds. Both are offered by name",
    ),
    Erratum(
        id="IS-init",
        statement="Section 5, starting centres",
        printed="the starting centres are random records, at no cost",
        holds="they are drawn from the public domain, or paid for",
    ),
    Erratum(
        id="IS-P17-proof",
        statement="Proposition 17, proof",
        printed="(e^z(z − 1) + 1)/w² ≥ ((z + 1)(z − 1) + 1)/w² = z²/w² for the loss z = ε(w, x)",
        holds="this fails below z = 1; e^z(z − 1) + 1 ≥ 0 holds for every z and gives the conclusion",
    ),
    Erratum(
        id="PWS-L4.2",
        statement="Lemma 4.2, Equation 4",
        printed="π_i = 1 − κ(e^{ε(2L+2−i)} − 1) in the middle branch, and π_i = 1 from i = 2L + 2 on",
        holds="the exponent is ε(2L + 1 − i), and π_i = 1 from i = 2L + 1 on; κ = δ/(e^ε − 1)",
    ),
    Erratum(
        id="PWS-L any L",
        statement="Lemma 4.2",
        printed="the closed form for integral L, without one for others",
        holds="for every L, with n = ⌊L⌋ + 1: π_i = κ(e^{εi} − 1) for i ≤ n, then "
        "1 − max(0, e^{−ε(i−n)}(1 − π_n + κ) − κ)",
    ),
    Erratum(
        id="PWS-L4.3",
        statement="Lemma 4.3",
        printed="at most 2L + 1 frequencies have π_i < q_i",
        holds="at most 2⌈L⌉ have",
    ),
    Erratum(
        id="PWS-A4",
        statement="Algorithm 4",
        printed="a garbled line that reads π_ij ← [π_ij]₊",
        holds="π_ij ← [α_ij]₊",
    ),
    Erratum(
        id="PWS-A5",
        statement="Algorithm 5",
        printed="D = [e^{−ε}f_{i−1}(0) − f_i(0)]₊ enters the lower bound, and (i − 1, i] has no density",
        holds="D = [f_{i−1}(0) − e^ε f_i(0)]₊, and f_i = min(π_i, δ) on (i − 1, i]",
    ),
    Erratum(
        id="PWS-T5.1",
        statement="Theorem 5.1",
        printed="Algorithm 4 has the largest separation at q ≡ 1",
        holds="it has for integral L; otherwise Algorithm 5 separates better",
    ),
    Erratum(
        id="PWS-C6.1",
        statement="Corollary 6.1",
        printed="no (ε, δ)-DP scheme makes two keys concordant more often than Algorithm 5",
        holds="none with optimal reporting at every frequency does; where q < 1, one that gives up reporting at a "
        "frequency can order its neighbours better",
    ),
    Erratum(
        id="PWS-A6",
        statement="Algorithm 6",
        printed="the body is missing; the figures follow from the threshold 1 + ln(1/δ)/ε",
        holds="add Laplace(1/ε) and report from the threshold on; 1 + ln(1/(2δ))/ε is the tight one for δ ≤ ½",
    ),
    Erratum(
        id="PWS-sec8",
        statement="Section 8",
        printed="the gain over histograms, π_i/φ_i, lies in [2, 2/ε]",
        holds="it lies in [2, 2/(1 − e^{−ε})]",
    ),
    Erratum(
        id="DPIS-proof",
        statement="Lemma 3.1, proof",
        printed="exponents (m² − m)‖g‖²/(Ñ²p²σ_G²C²)",
        holds="a factor 2 belongs into the denominator; Equation 13 has it",
    ),
    Erratum(
        id="DPIS-α",
        statement="Lemma 3.1",
        printed="the bound for integer orders alone",
        holds="the pair behind it is the sampled Gaussian of rate bC/K̃ and noise multiplier σ_G·Ñ·C/K̃: real orders "
        "and the loss distribution follow, and for one record the rate b‖g‖/K̃",
        unwitnessed="what is printed holds; it is narrower than need be",
    ),
    Erratum(
        id="DPIS-line26",
        statement="Algorithm 1, line 26",
        printed="(1/b)(Σ g/(Ñ·q·p) + noise)",
        holds="(1/b)(Σ b·g/(Ñ·q·p) + noise), which is Equation 7",
    ),
    Erratum(
        id="DPIS-saturation",
        statement="Section 3.4",
        printed="a record is drawn with q = min(bĝ/K̃, 1), where ĝ = k·max(‖ḡ‖, g_L)",
        holds="where bĝ > K̃ the weight exceeds K̃/Ñ, and Lemma 3.1 covers it no more; with ĝ capped at C it never does",
    ),
    Erratum(
        id="DPIS-stale",
        statement="Section 3.4, Equation 15",
        printed="a record enters with probability b‖ḡ‖/K̃, whatever its stale norm",
        holds="step 3 clips to min(ĝ, C): the rate is b·min(‖g‖, ĝ, C)/K̃, so that stale norms bias the estimate; "
        "without that clip the weight exceeds K̃/Ñ. Adding (K̃/Ñ)·g/‖g‖ keeps rate and shift within the analysis",
    ),
    Erratum(
        id="DPIS-3.5",
        statement="Section 3.5 and Algorithm 1, line 28",
        printed="K* sums the accepted records in the text, all records in line 28, and is costed as sampled",
        holds="one of the two, each with its own sensitivity; the next clipping bound stays in a public interval",
    ),
    Erratum(
        id="DPIS-Eq16",
        statement="Equation 16",
        printed="noise is added to K* in line 28 of Algorithm 1, and again in Equation 16",
        holds="it is added once",
    ),
    Erratum(
        id="DPIS-Eq19",
        statement="Equation 19",
        printed="K' costs a sampled Gaussian of noise multiplier σ_K",
        holds="one record moves the sum by C/p_K: the multiplier is σ_K·p_K at the rate p_K, and σ_K without sampling "
        "for line 28, which takes all records",
    ),
    Erratum(
        id="DPIS-adaptive",
        statement="Section 4.1",
        printed="Rényi costs are added up and the best order is taken afterwards, though σ_G depends on the released K̃",
        holds="the order is fixed before the run (a filter), or a pair declared beforehand dominates every step",
    ),
    Erratum(
        id="DPIS-private N",
        statement="Sections 3 and 5, parameters",
        printed="σ_N = σ_K = 0.02·N and T = |D|/b, with the private N",
        holds="they are set from Ñ or a public constant",
    ),
)
"""Every row, in the order of the papers."""
