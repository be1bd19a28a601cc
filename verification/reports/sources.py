"""Where claims come from, by the first part of their ids, and what the statements of a source assume."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import final

from attrs import frozen


@final
@frozen
class Source:
    """What a group of claims is about.

    Attributes:
        title: in a few words.
        citation: the paper, or what the claims are about.
        assumptions: what its statements assume; a claim checks the statement under them, not them.
    """

    title: str
    citation: str
    assumptions: tuple[str, ...]


_ONE_CHANGE = "Premises and conclusion speak of the same unit of privacy and of the same change of the data."
_RECORDS = "Neighbouring data differ by one record, added or removed."
_POISSON = "A record enters the sample on its own, with a probability that is a function of it fixed before the data."
_REAL_NOISE = "Continuous noise is real-valued."

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "is": Source(
            "IS: importance sampling",
            "D. Fay, S. Mair, J. Sjölund: Personalized Privacy Amplification via Importance Sampling, Transactions on "
            "Machine Learning Research.",
            (
                _RECORDS,
                _POISSON,
                "What a mechanism loses about a record depends on that record and its weight alone.",
                _REAL_NOISE,
            ),
        ),
        "pws": Source(
            "PWS: private weighted sampling",
            "E. Cohen, O. Geri, T. Sarlos, U. Stemmer: Differentially Private Weighted Sampling, AISTATS 2021.",
            (
                "Neighbouring data differ by one element: the frequency of one key changes by 1.",
                "Keys are sampled and reported independently of each other, with fresh coins.",
                "Rates and thresholds are fixed before the data.",
            ),
        ),
        "constrained": Source(
            "Weights within a target at a δ or an order",
            "IS, Problem 7, for Gaussian sums at a δ or a Rényi order, in runs of one release and of several.",
            (_RECORDS, _POISSON, _REAL_NOISE),
        ),
        "released": Source(
            "Released parameters",
            "Basic composition with what an earlier release gave: the supremum over what could have come out.",
            (
                _ONE_CHANGE,
                "A parameter depends on the data through earlier releases alone; its range is public.",
                _REAL_NOISE,
            ),
        ),
        "dpis": Source(
            "DPIS: importance-sampled DP-SGD",
            "J. Wei, E. Bao, X. Xiao, Y. Yang: DPIS: An Enhanced Mechanism for Differentially Private SGD with "
            "Importance Sampling, CCS 2022.",
            (
                _RECORDS,
                "Records enter a batch independently of each other.",
                "K̃, Ñ and the clipping bound are public, or were released at a cost of their own.",
                _REAL_NOISE,
            ),
        ),
        "accounting": Source(
            "Accounting",
            "Composition, filters, loss distributions and individual losses: what accountants rest on.",
            (_ONE_CHANGE, "Releases use coins that are independent of each other."),
        ),
        "amplification": Source(
            "Amplification", "Poisson samples of any dominating pair, in every notion.", (_RECORDS, _POISSON)
        ),
        "conversions": Source("Conversions", "From one notion of privacy to another.", (_ONE_CHANGE,)),
        "pairs": Source(
            "Dominating pairs",
            "Laplace, Gaussian and discrete noise, randomised response and finite tables.",
            ("A pair dominates the mechanism that declares it.", _REAL_NOISE),
        ),
        "mechanisms": Source(
            "Mechanisms",
            "What each built-in mechanism declares, beside what its release does.",
            (_RECORDS, _REAL_NOISE),
        ),
        "samplers": Source(
            "Samplers", "What each built-in sampler states, beside what it draws with.", (_RECORDS, _POISSON)
        ),
        "pure": Source("Pure differential privacy", "Its laws.", (_ONE_CHANGE,)),
        "approximate": Source("Approximate differential privacy", "Its laws.", (_ONE_CHANGE,)),
        "renyi": Source("Rényi differential privacy", "Its laws.", (_ONE_CHANGE,)),
        "zero-concentrated": Source("Zero-concentrated differential privacy", "Its laws.", (_ONE_CHANGE,)),
        "gaussian": Source("Gaussian differential privacy", "Its laws.", (_ONE_CHANGE,)),
        "noise": Source(
            "Noise as it is drawn",
            "Real-valued noise, correctly rounded on a public grid.",
            ("Random words are independent and uniform.",),
        ),
        "batches": Source(
            "Batches, groups and shuffled answers",
            "Other changes of the data than one record added or removed, and other samples than Poisson's.",
            ("Each claim says what changes and how records are drawn.", _REAL_NOISE),
        ),
        "selection": Source(
            "Private selection",
            "J. Liu, K. Talwar: Private Selection from Private Candidates, STOC 2019; N. Papernot, T. Steinke: "
            "Hyperparameter Tuning with Rényi Differential Privacy, ICLR 2022.",
            (
                _ONE_CHANGE,
                "How often a run is done is drawn apart from all else, from a public law, and not told.",
                "Outputs are ranked by the output alone.",
            ),
        ),
        "notions": Source("Notions", "What all of them share.", (_ONE_CHANGE,)),
    }
)


def source(prefix: str) -> Source:
    """The source of claims whose ids begin with `prefix`; one unknown to certdp states no assumptions here."""
    unknown = Source(prefix, "Claims of another distribution, which says what they assume.", ())
    return SOURCES.get(prefix, unknown)
