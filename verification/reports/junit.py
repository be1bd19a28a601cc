"""JUnit XML, which continuous integration reads: a suite for each source, a test case for each claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from ...accounting.display import format_value, shorten
from ...plugins.registry import Status
from ..running.results import Outcome, Report, Result

_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report, problems: Sequence[Status]) -> bytes:
    """The report as JUnit XML.

    Args:
        report: what came of the claims.
        problems: plugins whose claims were not run: unusable ones are errors, blocked ones are skipped.

    Guarantees:
        A claim that fails is a failure; one that broke, took too long or could not be loaded is an error. No claim
        that ran is skipped.
    """
    root = ElementTree.Element("testsuites", name="certdp verify")
    by_source = sorted(report.results, key=lambda result: _prefix(result))
    for prefix, found in groupby(by_source, key=_prefix):
        results = list(found)
        suite = _suite(root, prefix, report, sum(result.seconds for result in results))
        for result in results:
            _case(suite, result)
    if problems:
        suite = _suite(root, "plugins", report, 0.0)
        for problem in problems:
            _plugin(suite, problem)
    for element in (*root, root):
        _count(element)
    root.set("time", f"{report.seconds:.3f}")
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _prefix(result: Result) -> str:
    return result.claim.id.partition("/")[0]


def _suite(root: ElementTree.Element, name: str, report: Report, seconds: float) -> ElementTree.Element:
    started = report.started.isoformat(timespec="seconds").removesuffix("+00:00")
    suite = ElementTree.SubElement(root, "testsuite", name=_text(name), timestamp=started, time=f"{seconds:.3f}")
    properties = ElementTree.SubElement(suite, "properties")
    facts = {"seed": report.seed, "examples": report.examples, "timeout": report.timeout, **report.versions}
    for key, value in facts.items():
        ElementTree.SubElement(properties, "property", name=_text(key), value=_text(str(value)))
    return suite


def _case(suite: ElementTree.Element, result: Result) -> None:
    prefix, _, name = result.claim.id.partition("/")
    case = ElementTree.SubElement(
        suite, "testcase", classname=_text(f"certdp.{prefix}"), name=_text(name), time=f"{result.seconds:.3f}"
    )
    match result.outcome:
        case Outcome.FAILS | Outcome.NOT_REJECTED:
            _add_problem(case, "failure", result.outcome.value, result)
        case Outcome.ERROR | Outcome.TIMEOUT:
            _add_problem(case, "error", result.outcome.value, result)
        case _:
            ElementTree.SubElement(case, "system-out").text = _text(_format_result(result))


def _add_problem(case: ElementTree.Element, kind: str, outcome: str, result: Result) -> None:
    message = result.error or f"{result.claim.says}: {outcome}"
    told = ElementTree.SubElement(case, kind, message=_text(message), type=_text(outcome))
    told.text = _text(_format_result(result))


def _format_result(result: Result) -> str:
    lines = [f"{result.claim.statement}: {result.claim.says}", f"cases: {result.cases_tried}"]
    if result.witness is not None:
        lines.append(
            f"witness: {', '.join(f'{name} = {format_value(value)}' for name, value in result.witness.items())}"
        )
    if result.finding is not None:
        lines += [f"closed form: {shorten(result.finding.closed_form)}"]
        lines += [f"independent: {shorten(result.finding.independent)}"]
    if result.proof is not None:
        lines.append(f"proof: {result.proof}")
    if result.error is not None:
        lines.append(f"error: {result.error}")
    return "\n".join(lines)


def _plugin(suite: ElementTree.Element, status: Status) -> None:
    listing = status.listing
    case = ElementTree.SubElement(
        suite, "testcase", classname=_text(f"plugins.{listing.distribution}"), name=_text(listing.name), time="0.000"
    )
    problem = _text(status.problem or "")
    if status.blocked:
        ElementTree.SubElement(case, "skipped", message=problem)
    else:
        ElementTree.SubElement(case, "error", message=problem, type="unusable plugin")


def _count(element: ElementTree.Element) -> None:
    element.set("tests", str(sum(1 for _ in element.iter("testcase"))))
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(attribute, str(sum(1 for _ in element.iter(kind))))


def _text(text: str) -> str:
    """`text` without what XML cannot hold, which is written as an escape."""
    return _UNFIT.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
