"""Tables under one account: what is released, what it costs, and how little one unit moves it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certdp
from certdp import Delta, User
from certdp import queries as q
from certdp.accounting.errors import CertdpError
from certdp.mechanisms.lattice import lattice_sum
from certdp.plugins.contract import Coins
from certdp.queries.noise import GaussianShare, PureShare, Share
from tests.support.cases import examples

AGE, CITY = q.Column("age", 0, 120), q.Category("city", ["Oslo", "Bergen"])
GENERATOR = np.random.default_rng(2)
PEOPLE = {
    "age": GENERATOR.integers(0, 110, 600).tolist(),
    "city": GENERATOR.choice(["Oslo", "Bergen", "Paris"], 600).tolist(),
    "who": GENERATOR.integers(0, 200, 600).tolist(),
}
QUERIES = [
    q.count(),
    q.sum("age"),
    q.mean("age"),
    q.variance("age"),
    q.standard_deviation("age"),
    q.histogram("age", 6),
    q.histogram("age", [0, 18, 65]),
    q.quantiles("age", ["0.1", "0.9"], candidates=121),
    q.median("age", candidates=121),
    q.median("age", candidates=61, interval=True),
    q.count(by="city"),
    q.mean("age", by=["city"]),
]


def people(**options: Any) -> q.Table:
    given: dict[str, Any] = {"epsilon": 1} | options
    return q.table(PEOPLE, [AGE, CITY], **given)


def payments(table: q.Table) -> int:
    return table.account.filter.number


BOUNDS = [(0, 120), (-1, 0), (0, Fraction(1, 10**320)), (Fraction(-(2**500)), 2**500), (2**53, 2**53 + 2), (-1e-300, 1)]
"""Usual ones, and those that binary64 just holds apart."""
ages = st.one_of(st.none(), st.floats(-50, 200), st.floats(), st.sampled_from([5e-324, 2.0**500, -(2.0**500), 1.7e308]))
rows = st.lists(
    st.tuples(ages, st.sampled_from(["Oslo", "Bergen", None]), st.integers(0, 4)),
    min_size=1,
    max_size=20,
)


@pytest.mark.parametrize("share", [PureShare(Fraction(1)), GaussianShare(Fraction(1, 9000))], ids=["pure", "Gaussian"])
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
@examples(60)
@given(rows=rows, most=st.integers(1, 3), gone=st.integers(0, 4), ends=st.sampled_from(BOUNDS))
def test_a_user_moves_what_is_summed_by_at_most_the_number_of_rows(
    query: q.Query, share: Share, rows: list[Any], most: int, gone: int, ends: tuple[Any, Any]
) -> None:
    """The premise of every guarantee: the ℓ1 distance of sums as noise is added to them, with and without a user."""

    def sums(kept: list[Any]) -> list[np.ndarray[Any, Any]]:
        data = {name: [row[place] for row in kept] for place, name in enumerate(("age", "city", "who"))}
        found = q.table(data, [q.Column("age", *ends), CITY], epsilon=1, user="who", rows_per_user=most)
        bounded = found._rows.reveal().bounded(most)
        parts = query.parts(found.columns, share, most, 0.9)
        grids = [getattr(part.mechanism, "grids", {}).values() for part in parts]
        units = [min(grid, default=Fraction(1, 2**30)) for grid in grids]
        samples = [part.sample(bounded) for part in parts]
        return [np.array(lattice_sum(s, unit)) * float(unit) for s, unit in zip(samples, units, strict=True)]

    for here, there in zip(sums(rows), sums([row for row in rows if row[2] != gone]), strict=True):
        assert np.abs(here - there).sum() <= most


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_with_a_huge_budget_the_statistic_comes_out(query: q.Query, delta: Any) -> None:
    table = people(epsilon=10**6) if not delta else people(epsilon=300, delta=delta)
    result = table.release(query)[query.name]
    ages, cities = np.array(PEOPLE["age"], dtype=float), np.array(PEOPLE["city"])
    true = {
        "count": [600],
        "sum(age)": [ages.sum()],
        "mean(age)": [ages.mean()],
        "variance(age)": [ages.var()],
        "standard_deviation(age)": [ages.std()],
        "histogram(age)": np.histogram(ages, np.linspace(0, 120, 7) if len(result.values) == 6 else [0, 18, 65])[0],
        "quantiles(age)": np.quantile(ages, [0.1, 0.9]),
        "median(age)": [np.median(ages)],
        "count by city": [(cities == "Oslo").sum(), (cities == "Bergen").sum()],
        "mean(age) by city": [ages[cities == "Oslo"].mean(), ages[cities == "Bergen"].mean()],
    }[query.name]
    np.testing.assert_allclose(result.values, true, rtol=0.02, atol=1.5)
    assert {len(column) for column in (result.groups, result.low, result.high)} == {len(result.values)}


FAR = q.Column("x", -(2.0**500), 2.0**500)
NEAR = q.Column("x", 0, 5e-324)
OF_NUMBERS = [
    q.count(),
    q.sum("x"),
    q.mean("x"),
    q.variance("x"),
    q.standard_deviation("x"),
    q.median("x", candidates=9),
]


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("column", [FAR, NEAR, q.Column("x", 0, 3)], ids=str)
@pytest.mark.parametrize(
    ("epsilon", "confidence"),
    [
        *((epsilon, 0.95) for epsilon in ("1e-400", "1e-310", "1e-200", "1e-19", "1e-12", 700)),
        *((1, confidence) for confidence in (5e-324, 1e-17, 1 - 2.0**-40, 1 - 2.0**-52, 1 - 2.0**-53)),
    ],
)
def test_what_is_paid_for_is_answered(epsilon: Any, confidence: float, column: q.Column, delta: Any) -> None:
    """At the ends of what may be asked: a refusal comes before the payment, and nothing fails after it."""
    table = q.table({"x": [1.0, 2.0, -9e307, None]}, [column], epsilon=epsilon, delta=delta)
    for query in OF_NUMBERS:
        paid = payments(table)
        try:
            result = table.release(query, epsilon=Fraction(epsilon) / 8, confidence=confidence)[query.name]
        except CertdpError:
            assert payments(table) == paid
        else:
            assert not np.isnan(result.values).any()
            assert payments(table) == paid + 1


def test_one_account_pays_for_everything_and_refuses_the_rest() -> None:
    table = people(epsilon=1)
    first = table.release(q.count(), q.mean("age"), epsilon="0.75")
    assert 0.7499 < first.cost.bound.epsilon.upper_float <= 0.75
    view = table.where(AGE.at_least(18)).select("age")
    with pytest.raises(certdp.BudgetExceeded):
        view.release(q.count(), epsilon="0.5")
    assert payments(table) == 1
    view.release(q.count())  # all that is left
    for _ in range(2):
        with pytest.raises(certdp.BudgetExceeded):
            table.release(q.count(), epsilon="0.01")
    assert table.guarantee.bound.epsilon.upper == 1
    assert str(table.guarantee.unit.name) == "record"


def test_what_is_left_can_be_spent_again_and_again_without_ever_exceeding_the_budget() -> None:
    for delta in (0, "1e-6"):
        table = people(epsilon="0.3", delta=delta)
        for _ in range(3):
            table.release(q.count(), q.sum("age"), q.mean("age"), epsilon="0.05")
        table.release(*QUERIES[:5])
        assert table.guarantee.bound.epsilon.upper <= Fraction(3, 10) * (1 + Fraction(1, 2**90))


def test_a_guarantee_about_users_says_so() -> None:
    table = people(user="who", rows_per_user=2)
    results = table.release(q.count())
    assert table.guarantee.unit == results.cost.unit == User(contributions=2)
    assert "rows of a user" in [assumption.name for assumption in table.guarantee.assumptions]
    assert str(results["count"].noise) == "discrete Laplace noise of scale 2"


def test_tables_of_the_same_people_share_an_account() -> None:
    table = people()
    other = q.table({"size": [1.0, 2.0]}, [q.Column("size", 0, 3)], account=table.account)
    table.release(q.count(), epsilon="0.6")
    with pytest.raises(certdp.BudgetExceeded):
        other.release(q.count(), epsilon="0.6")
    with pytest.raises(CertdpError, match="account"):
        q.table(PEOPLE, [AGE], account=table.account, user="who", rows_per_user=2)
    with pytest.raises(CertdpError, match="The account has a budget"):
        q.table(PEOPLE, [AGE], account=table.account, epsilon=1)
    with pytest.raises(CertdpError, match="The account has a budget"):
        q.table(PEOPLE, [AGE], account=table.account, delta="1e-6")
    with pytest.raises(CertdpError, match="State what all answers may cost"):
        q.table(PEOPLE, [AGE])


@pytest.mark.parametrize(("delta", "asked"), [(0, 0), ("1e-6", "1e-6")])
def test_what_a_release_costs_is_certified(delta: Any, asked: Any) -> None:
    results = people(delta=delta).release(q.count(by="city"), q.mean("age"), q.median("age"), q.quantiles("age"))
    assert certdp.check(results.certificate(Delta(asked))).outcome.value == "holds"


def test_a_search_for_bounds_is_certified() -> None:
    table = q.table({"income": [3.0] * 500}, [q.Column("income")], epsilon=2)
    assert not table.searches
    results = table.with_bounds("income", epsilon=1).searches["income"]
    assert certdp.check(results.certificate()).outcome.value == "holds"
    assert float(results.cost.bound.epsilon.upper) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 3, 40, 400])
@pytest.mark.parametrize("shape", ["spread", "one value", "two values"])
def test_the_interval_of_a_quantile_holds_one_as_often_as_it_says(size: int, shape: str) -> None:
    """Few numbers or many, spread or all alike: with 80 %, and what a test of 300 releases leaves to chance."""
    numbers = {
        "spread": GENERATOR.uniform(0, 120, size),
        "one value": np.full(size, 37.5),
        "two values": np.where(np.arange(size) % 3 == 0, 0.0, 120.0),
    }[shape]
    held = 0
    for stream in range(300):
        table = q.table({"age": numbers}, [AGE], epsilon=1)
        asked = q.quantiles("age", ["0.3"], candidates=121, interval=True)
        result = table.release(asked, confidence=0.8, coins=Coins.seeded(stream))["quantiles(age)"]
        low, high = result.interval
        assert 0 <= low <= result.value <= high <= 120
        rank = 0.3 * size
        held += bool((numbers < low).sum() <= rank <= (numbers <= high).sum())
    assert held >= 300 * 0.8 - 4 * np.sqrt(300 * 0.8 * 0.2)


def test_an_interval_is_told_of_each_quantile() -> None:
    results = people(epsilon=1000).release(q.quantiles("age", ["0.1", "0.9"], candidates=121, interval=True))
    ages = np.array(PEOPLE["age"])
    for row, part in zip(results.rows(), (0.1, 0.9), strict=True):
        assert row["low"] <= np.quantile(ages, part) <= row["high"] <= row["low"] + 6
    assert "95 %: " in str(results)
    assert "rank" not in str(results)


def test_an_answer_of_several_numbers_shows_its_first() -> None:
    count, ages = people(epsilon=1000).release(q.count(), q.quantiles("age", ["0.1", "0.9"], candidates=121)).values()
    (whole,), (first, _) = count.lines(), ages.lines()
    assert (str(count), str(ages)) == (whole, f"{first}, and 1 more")


def test_seeded_releases_repeat_and_have_no_certificate() -> None:
    first, again = (people().release(*QUERIES[:3], coins=Coins.seeded(9)) for _ in range(2))
    assert [result.values.tolist() for result in first.values()] == [r.values.tolist() for r in again.values()]
    with pytest.raises(CertdpError):
        first.certificate(Delta(0))


def test_bounds_are_found_and_paid_for() -> None:
    data = {"income": (GENERATOR.lognormal(10, 0.5, 4000)).tolist()}
    table = q.table(data, [q.Column("income")], epsilon=1)
    with pytest.raises(CertdpError, match="with_bounds"):
        table.release(q.mean("income"))
    assert payments(table) == 0
    bounded = table.with_bounds("income", epsilon="0.2")
    low, high = bounded.columns["income"].bounds  # type: ignore[union-attr]
    held = np.mean((np.array(data["income"]) >= low) & (np.array(data["income"]) <= high))
    assert held > 0.9
    assert high <= 2**20
    assert payments(table) == 1
    bounded.release(q.mean("income"))
    empty = q.table({"income": [None]}, [q.Column("income")], epsilon=1)
    with pytest.raises(q.NoBounds):
        empty.with_bounds("income", epsilon="0.2")


def test_the_edges_of_bounds_are_found_for_signs_and_sizes() -> None:
    for numbers, wanted in (
        ([-3.0, -2.5], (-4, -2)),
        ([0.0], (0, Fraction(1, 2**32))),
        ([2.0**70], (2**63, 2**64)),
        ([-(2.0**70)], (-(2**64), -(2**63))),
    ):
        table = q.table({"x": numbers * 500}, [q.Column("x")], epsilon=4)
        assert table.with_bounds("x", epsilon=3, coins=Coins.seeded(4)).columns["x"].bounds == wanted  # type: ignore[union-attr]


WRONG: dict[str, Callable[[q.Table], Any]] = {
    "queries": lambda table: table.release(),
    "query": lambda table: table.release("count"),  # type: ignore[arg-type]
    "column": lambda table: table.release(q.mean("height")),
    "by": lambda table: table.release(q.count(by="age")),
    "epsilon": lambda table: table.release(q.count(), epsilon=0),
    "confidence": lambda table: table.release(q.count(), confidence=1),
    "condition": lambda table: table.where(q.Column("height", 0, 3).present()),
    "bins": lambda table: table.release(q.histogram("age", [3, 1])),
    "bins ": lambda table: table.release(q.histogram("age", 0)),
    "at": lambda table: table.release(q.quantiles("age", [2])),
    "candidates": lambda table: table.release(q.median("age", candidates=1)),
    "coins": lambda table: table.release(q.count(), coins=3),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("parameter", WRONG)
def test_what_is_inadmissible_is_named_and_costs_nothing(parameter: str) -> None:
    table = people()
    with pytest.raises(CertdpError) as caught:
        WRONG[parameter](table)
    assert getattr(caught.value, "parameter", None) == parameter.strip()
    assert payments(table) == 0


@pytest.mark.parametrize(
    ("parameter", "options"),
    [
        ("epsilon", {"epsilon": None}),
        ("epsilon", {"epsilon": 0}),
        ("delta", {"delta": 1}),
        ("rows_per_user", {"user": "who"}),
        ("rows_per_user", {"rows_per_user": 3}),
        ("contributions", {"user": "who", "rows_per_user": 0}),
        ("column", {"user": "whom", "rows_per_user": 1}),
    ],
)
def test_budgets_and_units_that_are_none_are_named(parameter: str, options: dict[str, Any]) -> None:
    with pytest.raises(CertdpError) as caught:
        people(**options)
    assert getattr(caught.value, "parameter", None) == parameter


def test_a_table_shows_nothing_that_is_private_and_is_not_copied_out() -> None:
    table = people().where(AGE.at_least(18))
    assert repr(table) == repr(q.table({"age": [1], "city": [""]}, [AGE, CITY], epsilon=1).where(AGE.at_least(18)))
    for leave in (pickle.dumps, copy.deepcopy):
        with pytest.raises(Exception, match=r"Private|account|process"):
            leave(table)


def test_answers_print_as_tables() -> None:
    results = people().release(q.count(), q.count(by="city"), coins=Coins.seeded(1))
    assert str(results).splitlines()[0].startswith("count = ")
    assert [row["group"] for row in results.rows()] == ["", "Oslo", "Bergen"]
    assert float(results["count"]) == results["count"].value
    assert "<table>" in results._repr_html_()
    with pytest.raises(CertdpError, match="2 numbers"):
        _ = results["count by city"].value
    with pytest.raises(CertdpError, match="count by city"):
        _ = results["sum"]
