"""`certdp psi`: what one release loses about each record, or about one element of a sampled key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...accounting.errors import InvalidValue
from ...data import Reading
from ..answer import Answer
from ..answering import application
from ..composition import Composition, KeyedComposition, chosen
from ..options import (
    Allow,
    AnyData,
    Array,
    Certificate,
    DivideBy,
    Mechanism,
    Options,
    Outside,
    Plot,
    Sampler,
    ThirdParty,
    Transpose,
)
from ..output import Terminal
from .keyed import keyed_profile
from .pure import pure_profile
from .request import Request
from .target import loss_at


def psi(
    mechanism: Mechanism,
    sampler: Sampler,
    terminal: Terminal,
    option: Options = None,
    data: AnyData = None,
    array: Array = None,
    transpose: Transpose = False,
    divide_by: DivideBy = "1",
    outside: Outside = "clip",
    delta: Annotated[str | None, typer.Option(metavar="D", help="Ask for ε at this δ, not for the pure one.")] = None,
    order: Annotated[str | None, typer.Option(metavar="A", help="Ask for τ at this Rényi order above 1.")] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Keyed data: ask for δ at this ε, not at the mechanism's.")
    ] = None,
    rows: Annotated[int | None, typer.Option(metavar="M", min=1, help="Keyed data: list frequencies up to M.")] = None,
    certificate: Certificate = None,
    owner_certificate: Annotated[
        Path | None, typer.Option(metavar="OUT.json", help="Write the data owner's private certificate here.")
    ] = None,
    plot: Plot = None,
    owner_plot: Annotated[
        Path | None, typer.Option(metavar="OUT.png", help="Plot ψ of the file's records, for the data's owner, here.")
    ] = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
) -> Answer:
    """What one release loses about each record, with a certificate.

    The largest loss over all records of a public domain is stated too. About sampled keys: δ between every two
    neighbouring frequencies, and over all frequencies.
    """
    request = Request(
        data=data,
        reading=Reading(array=array, transpose=transpose, divide_by=divide_by),
        outside=outside,
        delta=delta,
        order=order,
        epsilon=epsilon,
        rows=rows,
        certificate=certificate,
        owner_certificate=owner_certificate,
        plot=plot,
        owner_plot=owner_plot,
    )
    given = chosen(mechanism, sampler, option or [], third_party=third_party, allow=allow)
    match given:
        case KeyedComposition():
            return keyed_profile(request, given)
        case Composition():
            for name, value in (("epsilon", epsilon), ("rows", rows)):
                if value is not None:
                    remedy = "Ask for ε at a δ: --delta D"
                    raise InvalidValue(name, value, "nothing, for a mechanism on records", remedy)
            answer = pure_profile if delta is None and order is None else loss_at
            return answer(request, given, terminal)


command = application(psi, about_data=True)
