"""The independent checker of certificates.

It needs the standard library and mpmath, shares no code with what produces certificates, imports no code
that a certificate names, and gives the same verdict on every machine.
"""

from . import interrupted as interrupted  # first: to import the rest takes a while

# isort: split
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from . import constrained, constrained_sums, profile
from .approximate import run as composed
from .approximate.claims import CLAIMS
from .artefacts import digest_of, take_artefacts
from .budget import PER_BYTE, Budget
from .data import Data
from .envelope import LARGEST_FILE, open_envelope, read_file
from .keyed import release as keyed
from .verdict import Artefacts, Claim, NotProven, Outcome, Refused, Verdict

__all__ = [
    "LARGEST_FILE",
    "Artefacts",
    "Budget",
    "Claim",
    "Data",
    "Outcome",
    "Verdict",
    "check",
    "digest_of",
    "read_file",
]

KINDS: Final[dict[str, Callable[[dict[str, Any], Data | None, Budget], Verdict]]] = {
    profile.KIND: profile.check_sampled_pure_profile,
    constrained.KIND: constrained.check_constrained_pure_profile,
    **dict.fromkeys(constrained_sums.KINDS, constrained_sums.check_constrained_sum),
    **dict.fromkeys(CLAIMS, composed.check_composed),
    keyed.KIND: keyed.check_keyed_approximate,
}


def check(text: bytes, data: Data | None = None, budget: Budget | None = None) -> Verdict:
    """Check the bytes of a certificate, and compare an owner's certificate with its data where given.

    `budget` is the work that it may take, by default at most a minute's; what would take more is refused.

    Guarantees: never raises for any bytes; whatever is wrong, or could not be proven, is a refusal. A TypeError
    for anything but bytes, such as a path.
    """
    if not isinstance(text, bytes):
        raise TypeError(f"text: got {type(text).__name__}; admissible: the bytes of a certificate. Read the file first")
    try:
        budget = Budget() if budget is None else budget
        budget.spend(PER_BYTE * min(len(text), LARGEST_FILE))
        body = open_envelope(text)
        artefacts = take_artefacts(body)
        kind = body.get("kind")
        if type(kind) is not str or kind not in KINDS:
            raise Refused(f"unknown kind of certificate: {ascii(kind)[:80]}")
        return replace(KINDS[kind](body, data, budget), artefacts=artefacts)
    except NotProven as refusal:
        return Verdict(outcome=Outcome.REFUSED, reason=str(refusal), proven=refusal.proven)
    except Refused as refusal:
        return Verdict(outcome=Outcome.REFUSED, reason=str(refusal))
    except Exception as error:  # a check that cannot be carried out proves nothing
        return Verdict(outcome=Outcome.REFUSED, reason=f"the check failed: {ascii(error)[:200]}")
