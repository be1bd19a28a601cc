"""`certdp psi` at a δ or a Rényi order: what it says and refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.accounting.bulk import amplification as bulk_amplification
from certdp.accounting.bulk import sampled_gaussian as bulk_sampled_gaussian

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]
Base = tuple[str, ...]

GAUSSIAN = (
    *("psi", "--mechanism", "gaussian-sum", "--sampler", "importance", "--option", "scale=4"),
    *("--option", "rate=0.3", "--option", "norm=2", "--option", "floor=0.05", "--option", "radius=2"),
)
KEYS = {
    *("mechanism", "sampler", "notion", "epsilon", "guarantee", "assumptions", "certificate", "owner_certificate"),
    *("certified", "lower_end"),
    *("plot", "owner_plot", "private"),
}


def rates_and_shifts(table: Path, scale: float) -> tuple[Any, Any]:
    norms = np.minimum(np.linalg.norm(np.load(table), axis=1), 2.0)
    rates = np.clip(0.3 * norms, 0.05, 1.0)
    return rates, norms / rates / scale


def test_at_a_delta(certdp: Run, table: Path) -> None:
    ran = certdp(*GAUSSIAN, "--data", table, "--delta", "1e-5", "--json")
    assert (ran.code, ran.err) == (0, "")
    data = ran.json
    assert set(data) == KEYS | {"delta"}
    assert data["notion"] == data["guarantee"]["notion"] == "approximate"
    assert data["delta"] == pytest.approx(1e-5)
    lower, upper = data["epsilon"]
    assert 0 < lower <= upper <= lower * (1 + 1e-9)
    assert upper == pytest.approx(float(bulk_amplification.gaussian_epsilon(0.6, 2 / 0.6 / 4, 1e-5)), rel=1e-9)
    private = data["private"]
    values = bulk_amplification.gaussian_epsilon(*rates_and_shifts(table, 4.0), 1e-5)
    assert private["psi_max"] == pytest.approx(values.max(), rel=1e-9)
    assert private["psi_max"] <= upper
    assert private["quantiles"]["0.5"] == pytest.approx(np.quantile(values, 0.5, method="higher"), rel=1e-9)
    assert "not for publication" in private["notice"]
    assert data["guarantee"]["domain"]["radius"] == "2"
    assert data["certificate"] is data["owner_certificate"] is data["plot"] is None


@pytest.mark.slow
def test_at_an_order(certdp: Run, table: Path) -> None:
    data = certdp(*GAUSSIAN, "--data", table, "--order", "5/2", "--json").json
    assert set(data) == KEYS | {"order", "tau"}
    assert data["epsilon"] is None
    assert data["order"] == 2.5
    lower, upper = data["tau"]
    assert 0 < lower <= upper <= lower * (1 + 1e-9)
    assert upper == pytest.approx(float(bulk_sampled_gaussian.renyi_upper(0.6, 2 / 0.6 / 4, 2.5)), rel=1e-9)
    values = bulk_sampled_gaussian.renyi_upper(*rates_and_shifts(table, 4.0), 2.5)
    assert data["private"]["psi_max"] == pytest.approx(values.max(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "sign", "key"), [("--delta", "ε", "epsilon"), ("--order", "τ", "tau")])
def test_the_text_says_the_same(certdp: Run, table: Path, target: str, sign: str, key: str) -> None:
    value = {"--delta": "1e-6", "--order": "4"}[target]
    arguments = (*GAUSSIAN, "--data", table, target, value)
    text, data = certdp(*arguments, "--full").out, certdp(*arguments, "--json").json
    assert f"{sign} ≤ {data[key][1]!r} at " in text
    assert "every record with ‖x‖₂ ≤ 2" in text
    public, _, private = text.partition("not for publication")
    assert f"{sign}, largest" not in public
    assert repr(data["private"]["psi_max"]) in private


@pytest.mark.slow
def test_a_pure_mechanism_at_a_delta_and_an_order(certdp: Run, base: Base, table: Path) -> None:
    arguments = (*base, "--option", "radius=2", "--data", table, "--json")
    pure = certdp(*arguments).json
    some = certdp(*arguments, "--delta", "1e-4").json
    none = certdp(*arguments, "--delta", "0").json
    assert some["epsilon"][1] < pure["epsilon"][1]
    assert some["private"]["psi_max"] < pure["private"]["psi_max"]
    assert none["private"]["psi_max"] == pytest.approx(pure["private"]["psi_max"], rel=1e-12)
    assert none["private"]["quantiles"] == pytest.approx(pure["private"]["quantiles"], rel=1e-12)
    assert none["epsilon"][1] == pytest.approx(pure["epsilon"][1], rel=1e-9)
    tau = certdp(*arguments, "--order", "2").json
    assert tau["private"]["psi_max"] <= tau["tau"][1] <= pure["epsilon"][1]


def test_without_either_the_message_stays(refusal: Refusal) -> None:
    error = refusal(*GAUSSIAN)
    assert (error["parameter"], error["value"]) == ("mechanism", "gaussian-sum")
    assert "--delta D or --order A" in error["remedy"]


@pytest.mark.parametrize(
    ("option", "target"),
    [
        *((option, ("--delta", "1e-5")) for option in ("--owner-certificate", "--plot", "--owner-plot")),
        *((option, ("--order", "2")) for option in ("--owner-certificate", "--plot", "--owner-plot")),
    ],
)
def test_what_has_no_file_yet(refusal: Refusal, tmp_path: Path, option: str, target: tuple[str, str]) -> None:
    error = refusal(*GAUSSIAN, *target, option, tmp_path / "out")
    assert error["parameter"] == option[2:]
    assert "leave the option out" in error["remedy"]
    assert list(tmp_path.iterdir()) == []


def test_the_certificate_at_an_order(certdp: Run, tmp_path: Path) -> None:
    path = tmp_path / "order.json"
    found = certdp(*GAUSSIAN, "--order", "4", "--certificate", path, "--json").json
    assert (found["certificate"], found["certified"]["order"]) == (str(path), 4)
    assert found["tau"][1] <= found["certified"]["tau"] <= found["tau"][1] * (1 + 1e-6)
    assert f"certificate: {path}" in (page := certdp(*GAUSSIAN, "--order", "4", "--certificate", path).out)
    assert "proves order 4, tau " in page
    assert certdp("check", path, "--require", "proved").code == 0


@pytest.mark.slow
def test_the_certificate_at_a_delta_is_that_of_the_supremum(certdp: Run, tmp_path: Path) -> None:
    """The same that `certdp epsilon` writes of one release."""
    here, there = tmp_path / "psi.json", tmp_path / "epsilon.json"
    found = certdp(*GAUSSIAN, "--delta", "1e-5", "--certificate", here, "--json").json
    assert certdp("epsilon", *GAUSSIAN[1:], "--delta", "1e-5", "--certificate", there).code == 0
    assert here.read_bytes() == there.read_bytes()
    assert found["certificate"] == str(here)
    assert found["epsilon"][1] <= found["certified"]["epsilon"]
    assert certdp("check", here, "--max-epsilon", found["certified"]["epsilon"], "--max-delta", "1e-5").code == 0


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (["--delta", "1e-5", "--order", "2"], "order"),
        (["--delta", "2"], "delta"),
        (["--delta", "nan"], "delta"),
        (["--order", "1"], "order"),
        (["--order", "2", "--outside", "ignore"], "outside"),
    ],
)
def test_targets_that_are_none(refusal: Refusal, arguments: list[str], parameter: str) -> None:
    assert refusal(*GAUSSIAN, *arguments)["parameter"] == parameter


def test_a_gaussian_has_no_epsilon_at_delta_zero(refusal: Refusal) -> None:
    assert "state a δ above 0" in refusal(*GAUSSIAN, "--delta", "0")["remedy"]


def test_a_norm_needs_a_domain(refusal: Refusal, base: Base) -> None:
    error = refusal(*base, "--delta", "1e-5")
    assert error["parameter"] == "radius"
    assert "--option radius=" in error["remedy"]
