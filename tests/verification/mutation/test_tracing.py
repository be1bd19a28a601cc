"""Which statements a guard executes, whatever it shares with others; told by processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from certdp.verification.mutation.killing import Guard
from certdp.verification.mutation.mutants import source_of
from certdp.verification.mutation.scoring import _affordable

TRACE = """
import json
from certdp.accounting.expressions import minimum, norm
from certdp.verification.mutation.tracing import Probes

probes = Probes.plant(["accounting.expressions.tree", "accounting.norms"])
value, seconds, touched = probes.touching(lambda: minimum(1, norm(1)))
_, _, nothing = probes.touching(lambda: None)
print(json.dumps([str(value), seconds, {name: sorted(lines) for name, lines in touched.items()}, nothing]))
"""


def test_a_trace_tells_the_statements_that_a_call_executes() -> None:
    told = subprocess.run([sys.executable, "-c", TRACE], stdout=subprocess.PIPE, text=True, check=True).stdout
    value, seconds, touched, nothing = json.loads(told)
    assert value == "min(1, ‖x‖₁)"
    assert seconds >= 0
    assert nothing == {}
    lines = source_of("accounting.expressions.tree").splitlines()
    within = lines.index(next(line for line in lines if line.startswith("def minimum(")))
    after = next(n for n in range(within + 1, len(lines)) if lines[n].startswith(("def ", "class ", "@")))
    assert set(touched["accounting.expressions.tree"]) & set(range(within + 1, after + 1))
    assert "accounting.norms" not in touched or touched["accounting.norms"]


SHARING = """
from functools import cache
import pytest
from certdp.accounting.expressions import minimum, norm


@cache
def made(number=1):
    return minimum(number, norm(1)) if number else 0

@cache
def made_of_what_was_made():
    return made(number=1)


@pytest.fixture(scope="module")
def shared():
    return minimum(2, norm(2))


def test_first(shared): made()
def test_second(): made()
def test_third(shared): pass
def test_fourth(): pass
def test_fifth(): assert not made()
def test_sixth(): made(0)
def test_seventh(): made_of_what_was_made()
def test_eighth(): made_of_what_was_made()
"""

BENCH = """
import sys
from pathlib import Path

import pytest
from certdp.verification.mutation.killing import Bench

def main():
    bench = Bench([Path(sys.argv[1])])
    for guard in bench.trace(sys.argv[1], is_claim=False, seconds=60.0):
        makes = "accounting.expressions.tree" in guard.touched
        print(guard.name.rpartition("::")[2], makes, len(guard.shared), sum(guard.shared.values()) <= guard.seconds)
    bench.close()

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
def test_who_uses_what_another_made_counts_as_making_it(tmp_path: Path) -> None:
    tests, script = tmp_path / "test_sharing.py", tmp_path / "bench.py"
    tests.write_text(SHARING)
    script.write_text(BENCH)
    told = subprocess.run([sys.executable, script, tests], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert told.splitlines() == [
        "test_first True 2 True",
        "test_second True 1 True",
        "test_third True 1 True",
        "test_fourth False 0 True",
        "test_sixth False 1 True",
        "test_seventh True 2 True",
        "test_eighth True 2 True",
    ]


def test_what_several_guards_share_is_paid_once() -> None:
    """Otherwise a corpus that takes long to write would be shown to no mutant."""
    corpus = [Guard(f"test {number}", False, 16.0, {}, {"corpus": 15.0}) for number in range(4)]
    other, short = Guard("other", False, 16.0, {}, {"another": 15.0}), Guard("short", False, 0.5, {})
    assert list(_affordable([*corpus, other, short])) == [*corpus, short]
