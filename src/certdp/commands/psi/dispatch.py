"""`certdp psi`: what one release loses about each record, or about one element of a sampled key."""

from __future__ import annotations

from ...accounting.errors import InvalidValue
from ..answer import Answer
from ..answering import application
from ..composition import Composition, KeyedComposition, chosen
from ..options import Mechanism, Options, Sampler
from ..output import Terminal
from ..requests import Admission
from .keyed import keyed_profile
from .pure import pure_profile
from .request import Request
from .target import loss_at


def psi(
    mechanism: Mechanism,
    sampler: Sampler,
    terminal: Terminal,
    option: Options = None,
    *,
    request: Request,
    admission: Admission,
) -> Answer:
    """What one release loses about each record, with a certificate.

    The largest loss over all records of a public domain is stated too. About sampled keys: δ between every two
    neighbouring frequencies, and over all frequencies.
    """
    given = chosen(mechanism, sampler, option or [], admission.registry)
    match given:
        case KeyedComposition():
            return keyed_profile(request, given)
        case Composition():
            for name, value in (("epsilon", request.epsilon), ("rows", request.rows)):
                if value is not None:
                    remedy = "Ask for ε at a δ: --delta D"
                    raise InvalidValue(name, value, "nothing, for a mechanism on records", remedy)
            answer = pure_profile if request.delta is None and request.order is None else loss_at
            return answer(request, given, terminal)


command = application(psi, about_data=True)
