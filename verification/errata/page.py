"""The table of errata as a page of Markdown: what is printed, what holds, and witnesses to recompute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import groupby
from typing import Any, TypeAlias

from ...plugins.contract import Case, Claim, Finding
from .errata import Entry

Witness: TypeAlias = tuple[Case, Finding]
"""A case that contradicts what is printed, and both sides of the comparison there."""

_HEAD = """# Errata of the three papers

Where a paper prints what does not hold, certdp implements what does, and keeps the printed form as a claim that must
be rejected. Each row gives the smallest reason to believe it: a case with small numbers, what the printed form says
about it, and what comes out when it is computed another way. `certdp verify --errata` finds them anew, and
`certdp verify --errata --markdown docs/errata.md` writes this page. What the symbols stand for is told in
[paper_map.md](paper_map.md); in the cases,

- `growth` is e^ε, `delta` δ, `rates` are q₁, q₂, …, `frequency` is i, `steps` an integral L;
- ε(w) is log((1 + slope)^w) in the family `linear`, a·w^p in the family `power`; `rate` is q, `factor` is ε*/ε(1),
  `halvings` are those of the bisection, `accuracy` is its α;
- `n`, `spread`, `radius`, `mixing` are n, x̃, r, λ, `others` the records beside the one at 0; ε is
  w·(constant + slope·‖x‖);
- of Lloyd's algorithm, `iterations` are T and `loss` is ε of one at weight 1; from `records` records at 1, one at −1
  and `scale_count`, `scale_sum` for β; `order` is p of the norm of noise of that `scale`, `noise` a place, `shift`
  how far neighbours are apart;
- `batch`, `size`, `clip`, `noise_multiplier` are b, Ñ, C, σ; `norm` and `stale` are norms in units of C, `floor` is
  g_L, `multiplier` k, `order` α; clipped gradients are `norms` times `directions`, drawn in proportion to `weights`;
- `share` places a number (m, δ, b or K̃) between its least and its largest value;
- `first` is e^ε of the randomised response that an adaptive run begins with, `factor` e^ε of its budget; the laws asked
  for afterwards are written out.
"""


def page(entries: Iterable[Entry], witnesses: Mapping[str, Witness]) -> str:
    """The page for these rows.

    Args:
        entries: the rows, those of one paper in sequence.
        witnesses: by the id of the control.
    """
    parts = [_HEAD]
    for paper, rows in groupby(entries, key=lambda entry: entry.id.partition("-")[0]):
        parts.append(f"\n## {paper}\n")
        parts.extend(_section(entry, witnesses) for entry in rows)
    return "".join(parts)


def _section(entry: Entry, witnesses: Mapping[str, Witness]) -> str:
    lines = [f"\n### {entry.id}\n\n", *(f"- {name}: {text}\n" for name, text in cells(entry))]
    for claim in entry.controls:
        lines.append(f"\nWitness of `{claim.id}`, “{claim.says}”:\n\n")
        if claim.id in witnesses:
            lines.extend(f"- {line}\n" for line in lines_of(witnesses[claim.id]))
        else:
            lines.append("- none was found\n")
    return "".join(lines)


def cells(entry: Entry) -> Iterator[tuple[str, str]]:
    """The cells of a row by their names."""
    erratum = entry.erratum
    if erratum is None:
        for claim in entry.controls:
            yield "Stated by", f"{claim.id}, {claim.statement}"
            yield "Printed", claim.says
        return
    yield "Statement", erratum.statement
    yield "Printed", erratum.printed
    yield "Holds", erratum.holds
    if erratum.unwitnessed is not None:
        yield "No witness", erratum.unwitnessed


def lines_of(witness: Witness) -> list[str]:
    """A witness in words: the case, then both sides."""
    case, finding = witness
    return [
        f"case: {', '.join(f'{name} = {_text(value)}' for name, value in case.items())}",
        f"as printed: {finding.closed_form}",
        f"recomputed: {finding.independent}",
    ]


def stated_witness(claim: Claim) -> Witness | None:
    """The witness that a control states, examined; None where it states none."""
    return None if claim.witness is None else (claim.witness, claim.examine(claim.witness))


def _text(value: Any) -> str:
    match value:
        case Fraction():
            return str(value)
        case tuple() | list():
            return f"({', '.join(map(_text, value))})"
        case Mapping():
            return ", ".join(f"{name}: {_text(item)}" for name, item in value.items())
        case _:
            return str(value)
