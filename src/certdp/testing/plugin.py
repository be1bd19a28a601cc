"""For pytest: the fixture `assert_private`, which passes where a run provably keeps (ε, δ), and leaves its certificate.

pytest loads it where certdp is installed. Nothing of certdp is imported until a test asks for the fixture.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final

import pytest
from attrs import field, frozen

if TYPE_CHECKING:
    from ..accounting.exact import Number
    from ..accounting.relations import Change
    from ..accounting.units import Delta, Epsilon
    from ..interoperation.claims import ClaimVerdict
    from ..interoperation.proven_claims import Claimed

OPTION = "--certdp-certificates"
"""Names the folder in which certificates are left."""


@final
@frozen
class _Reports:
    """What was proven while pytest ran, for its last lines."""

    proven: Counter[str] = field(factory=Counter)
    notes: list[str] = field(factory=list)


_REPORTS = pytest.StashKey[_Reports]()


class AssertPrivate(Protocol):
    """What the fixture `assert_private` gives: called with a run and what is claimed of it."""

    def __call__(
        self, run: Claimed, *, epsilon: Epsilon | Number, delta: Delta | Number = 0, relation: Change | None = None
    ) -> ClaimVerdict:
        """Fail the test unless (ε, δ) is proven; see the fixture."""
        ...


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> AssertPrivate:
    """Fails a test unless a run provably keeps (ε, δ), under adding or removing one record unless asked otherwise.

    Called with `run`: a SampledRun, a Plan, a KeyedRun, an event of `certdp.interoperation`, or what `read_peer_file`
    gave; `epsilon`; `delta`, by default 0; and `relation`, the change of the data that the claim is about, by default
    ADD_REMOVE. Returns the verdict, with both proven ends. A claim that is refuted and one of which nothing is proven
    fail in different words, and so does a run of certdp that is about another relation. With `--certdp-certificates
    DIR` each claim that is proven leaves its certificate there, for `certdp check`.
    """
    from ..accounting.relations import ADD_REMOVE
    from ..interoperation.proven_claims import proven

    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid).strip("_")
    folder: Path | None = request.config.getoption(OPTION)
    reports = request.config.stash[_REPORTS]
    calls = 0

    def check(
        run: Claimed, *, epsilon: Epsilon | Number, delta: Delta | Number = 0, relation: Change | None = None
    ) -> ClaimVerdict:
        nonlocal calls
        __tracebackhide__ = True
        calls += 1
        against = ADD_REMOVE if relation is None else relation
        found = proven(run, epsilon, delta, relation=against, with_certificate=folder is not None)
        if found.refusal is not None:
            pytest.fail(found.refusal, pytrace=False)
        if folder is not None:
            if found.reason is not None:
                reports.notes.append(f"certificate of {request.node.nodeid}: {found.reason}")
            if found.certificate is not None:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}-{calls}.json").write_bytes(found.certificate)
        reports.proven[found.about] += 1
        return found.verdict

    return check


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that says where certificates are left."""
    parser.getgroup("certdp").addoption(
        OPTION, type=Path, metavar="DIR", help="leave the certificate of each claim that assert_private proves here"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start the account of claims."""
    config.stash[_REPORTS] = _Reports()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many claims were proven, and of which certificates there is something to say."""
    reports = config.stash[_REPORTS]
    if reports.proven:
        terminalreporter.write_sep("-", "certdp")
        for about, number in sorted(reports.proven.items()):
            terminalreporter.write_line(f"{number} privacy claims proven, {about}")
        for line in reports.notes:
            terminalreporter.write_line(line)
