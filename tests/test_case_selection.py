"""Which cases run: every value of every parameter, few cases, others for another rotation, and a share of all tests."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cases import ALL_EXAMPLES, FEWEST, covering, examples, in_turn, one_in, owner_of, ranked
from tests.support.selection import mark_the_rest

AXES = st.lists(st.integers(1, 6), min_size=1, max_size=4)


def product(sizes: list[int]) -> dict[str, dict[int, int]]:
    return {repr(values): dict(enumerate(values)) for values in itertools.product(*map(range, sizes))}


@given(AXES, st.integers(0, 9))
def test_every_value_is_met_by_few_cases(sizes: list[int], rotation: int) -> None:
    cases = product(sizes)
    kept = covering(cases, rotation)
    assert {value for name in kept for value in cases[name].items()} == {
        (i, n) for i in range(len(sizes)) for n in range(sizes[i])
    }
    assert max(sizes) <= len(kept) <= sum(sizes)


def test_rows_that_are_one_parameter_all_stay() -> None:
    rows = {f"row {n}": {"option, value": n} for n in range(20)}
    assert covering(rows, 0) == set(rows)


def test_other_rotations_meet_other_combinations() -> None:
    cases = product([5, 5])
    met = set.union(*(covering(cases, rotation) for rotation in range(60)))
    assert met == set(cases)
    assert covering(cases, 7) == covering(cases, 7)


def test_the_order_depends_on_nothing_else() -> None:
    names = [f"case {n}" for n in range(50)]
    assert ranked(names, 3) == ranked(reversed(names), 3) != ranked(names, 4)


def test_shares_of_all_tests_are_a_partition_with_all_cases_of_each() -> None:
    names = [f"file.py::test_{n}[{case}]" for n in range(40) for case in range(3)]
    shares = [one_in(5, names, rotation) for rotation in range(5)]
    assert set.union(*shares) == set(names)
    assert sum(map(len, shares)) == len(names)
    assert all(owner_of(name) + "[0]" in share for share in shares for name in share)


@given(st.integers(1, 5), st.integers(0, 20), st.integers(0, 99))
def test_rotations_that_follow_each_other_are_a_partition_of_slow_cases(turns: int, number: int, rotation: int) -> None:
    names = [f"case {n}" for n in range(number)]
    shares = [in_turn(turns, names, rotation + turn) for turn in range(min(turns, number))]
    assert set().union(*shares) == set(names)
    assert sum(map(len, shares)) == number
    assert all(shares)


@pytest.mark.slow
@pytest.mark.parametrize("case", range(7))
def test_slow_cases_take_turns(case: int, request: pytest.FixtureRequest) -> None:
    own = [item for item in request.session.items if owner_of(item.nodeid) == owner_of(request.node.nodeid)]
    turns = request.config.option.turns
    assert 1 <= len(own) <= -(-7 // turns) or request.node.get_closest_marker("soundness")


SLOW = """
import pytest

pytestmark = pytest.mark.slow

@pytest.mark.parametrize("case", range(6))
def test_cases(case: int) -> None: ...

@pytest.mark.xdist_group("together")
class TestTogether:
    def test_one(self) -> None: ...

    def test_other(self) -> None: ...

""" + "".join(f"def test_{number}() -> None: ...\n" for number in range(12))


def test_slow_tests_without_cases_take_turns_too(tmp_path: Path) -> None:
    """Each runs in one of three rotations that follow each other, and what shares a fixture in the same one."""
    path = tmp_path / "test_turns.py"
    path.write_text(SLOW, "utf-8")
    runs = []
    for rotation in range(3):
        items = collected(path)
        mark_the_rest(items, rotation, 3)
        runs.append({item.nodeid.partition("::")[2] for item in items if not item.get_closest_marker("soundness")})
    assert sorted(name for run in runs for name in run) == sorted(
        item.nodeid.partition("::")[2] for item in collected(path)
    )
    assert [sum(name.startswith("TestTogether") for name in run) for run in runs].count(2) == 1
    assert all(6 <= len(run) <= 8 for run in runs)


def collected(path: Path) -> list[pytest.Item]:
    found: list[pytest.Item] = []

    class Collector:
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            found.extend(items)

    options = ["--collect-only", "-qq", "-p", "no:xdist", "-p", "no:cacheprovider", "--import-mode=importlib"]
    pytest.main([*options, f"--rootdir={path.parent}", "-c", os.devnull, str(path)], plugins=[Collector()])
    return found


def test_each_property_keeps_some_examples() -> None:
    assert FEWEST <= examples(ALL_EXAMPLES).max_examples <= ALL_EXAMPLES
    assert [examples(number).max_examples for number in (1, 2, FEWEST)] == [1, 2, FEWEST]


def test_examples_are_the_same_in_every_run() -> None:
    assert settings.default is not None
    assert settings.default.derandomize


@pytest.mark.parametrize("letter", "abcde")
@pytest.mark.parametrize(("number", "name"), [(1, "one"), (2, "two"), (2, "zwei")])
def test_each_value_is_met_in_this_run_too(letter: str, number: int, name: str, request: pytest.FixtureRequest) -> None:
    own = [item for item in request.session.items if owner_of(item.nodeid) == owner_of(request.node.nodeid)]
    if len(own) > 1:  # nobody asked for one case alone
        met = [item.callspec.params for item in own if isinstance(item, pytest.Function)]
        assert {params["name"] for params in met} == {"one", "two", "zwei"}
        assert {params["letter"] for params in met} == set("abcde")


@pytest.mark.repeated(2)
@pytest.mark.parametrize("seed", range(9))
def test_repetitions_are_left_to_the_soundness_runs(seed: int, request: pytest.FixtureRequest) -> None:
    own = [item for item in request.session.items if owner_of(item.nodeid) == owner_of(request.node.nodeid)]
    assert 1 <= len(own) <= 2 or request.node.get_closest_marker("soundness")


@pytest.mark.xdist_group("grouped")
@pytest.mark.parametrize("case", range(2))
def test_a_group_stays_on_one_worker(case: int, request: pytest.FixtureRequest) -> None:
    """Else what a group builds once is built by each worker, and nothing says so."""
    if "PYTEST_XDIST_WORKER" in os.environ and request.config.option.loadgroup:
        assert request.node.nodeid.endswith("@grouped")


def test_every_folder_has_quick_tests() -> None:
    here = Path(__file__).parent
    for folder in {path.parent for path in here.rglob("test_*.py")} - {here / "dpis/torch_models"}:
        texts = [path.read_text("utf-8") for path in folder.glob("test_*.py")]
        tests, slow = (sum(text.count(sign) for text in texts) for sign in ("def test_", "@pytest.mark.slow\n"))
        assert slow < tests, folder
