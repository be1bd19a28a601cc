"""For pytest: the fixture `assert_private`, which passes where a run provably keeps (ε, δ), and leaves its certificate.

pytest loads it where certdp is installed. Nothing of certdp is imported until a test asks for the fixture.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final

import pytest
from attrs import field, frozen

if TYPE_CHECKING:
    from ..accounting.exact import Number
    from ..accounting.units import Delta, Epsilon
    from ..interoperation.claims import ClaimVerdict
    from ..interoperation.proven_claims import Claimed

OPTION = "--certdp-certificates"
"""Names the folder in which certificates are left."""


@final
@frozen
class _Reports:
    """What was proven while pytest ran, for its last lines."""

    proven: list[str] = field(factory=list)
    notes: list[str] = field(factory=list)


_REPORTS = pytest.StashKey[_Reports]()


class AssertPrivate(Protocol):
    """What the fixture `assert_private` gives: called with a run and what is claimed of it."""

    def __call__(self, run: Claimed, *, epsilon: Epsilon | Number, delta: Delta | Number = 0) -> ClaimVerdict:
        """Fail the test unless (ε, δ) is proven; see the fixture."""
        ...


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> AssertPrivate:
    """Fails a test unless a run provably keeps (ε, δ) under adding or removing one record.

    Called with `run`: a SampledRun, a Plan, a KeyedRun, an event of `certdp.interoperation`, or what `read_peer_file`
    gave; `epsilon`; and `delta`, by default 0. Returns the verdict, with both proven ends. A claim that is refuted and
    one of which nothing is proven fail in different words. With `--certdp-certificates DIR` each claim that is proven
    leaves its certificate there, for `certdp check`.
    """
    from ..interoperation.proven_claims import proven

    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid).strip("_")
    folder: Path | None = request.config.getoption(OPTION)
    reports = request.config.stash[_REPORTS]
    calls = 0

    def check(run: Claimed, *, epsilon: Epsilon | Number, delta: Delta | Number = 0) -> ClaimVerdict:
        nonlocal calls
        __tracebackhide__ = True
        calls += 1
        found = proven(run, epsilon, delta, with_certificate=folder is not None)
        if found.refusal is not None:
            pytest.fail(found.refusal, pytrace=False)
        if folder is not None:
            if found.reason is not None:
                reports.notes.append(f"certificate of {request.node.nodeid}: {found.reason}")
            if found.certificate is not None:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}-{calls}.json").write_bytes(found.certificate)
        reports.proven.append(request.node.nodeid)
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
        terminalreporter.write_line(f"{len(reports.proven)} privacy claims proven")
        for line in reports.notes:
            terminalreporter.write_line(line)
