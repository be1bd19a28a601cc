"""`certdp psi`, `epsilon`, `delta` and plans about sampled keys: figures, keys, words and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.provenance import Public
from certdp.accounting.units import Delta, Epsilon
from certdp.mechanisms.pws_keys import PwsKeys
from certdp.runs.keyed import KeyedRun
from certdp.samplers.every_key import EveryKey
from certdp.samplers.ppswor import Ppswor

BUDGET = ("--option", "epsilon=0.5", "--option", "delta=0.05")
KEYS = ("--mechanism", "pws-keys", "--sampler", "every-key", *BUDGET)
SAMPLED = ("--mechanism", "pws-keys", "--sampler", "ppswor", "--option", "threshold=0.25", *BUDGET)
MECHANISM = PwsKeys(epsilon=Public("0.5"), delta=Public("0.05"))

Command = Callable[..., Any]


class TestFigures:
    def test_the_supremum_at_the_epsilon_of_the_mechanism(self, certdp: Command) -> None:
        data = certdp("psi", *SAMPLED, "--json").json
        assert (data["unit"], data["epsilon"], data["notion"]) == ("element", 0.5, "approximate")
        lower, upper = data["delta"]
        assert 0.0499 < lower <= upper <= 0.05
        assert data["mechanism"]["options"]["epsilon"] == "1/2"
        assert data["sampler"]["name"] == "ppswor"
        assert (data["guarantee"]["unit"], data["guarantee"]["relation"]) == ("element", "add-remove")
        assert "Theorem 6 is not used" in data["guarantee"]["why"]
        assert {"name": "unit is an element", "value": "one occurrence of a key"} in data["assumptions"]
        assert data["certificate"] is None

    def test_at_another_epsilon(self, certdp: Command) -> None:
        data = certdp("psi", *SAMPLED, "--epsilon", "0.25", "--json").json
        answer = KeyedRun(mechanism=MECHANISM, sampler=Ppswor(threshold=Public("0.25"))).delta(Epsilon("0.25"))
        assert data["epsilon"] == 0.25
        assert data["delta"] == [answer.delta.lower, answer.delta.upper]

    def test_each_frequency_both_ways(self, certdp: Command) -> None:
        """q ≡ 1 by hand: π_1 = δ, π_2 = δ(1 + e^ε); a key of frequency 1 is never reported against one of 0."""
        data = certdp("psi", *KEYS, "--epsilon", "0", "--rows", 3, "--json").json
        rows = data["frequencies"]
        assert [row["frequency"] for row in rows] == [1, 2, 3]
        for row in rows:
            for way in ("remove", "add"):
                lower, upper = row[way]
                assert 0 <= lower <= upper <= data["delta"][1] * (1 + 1e-12)
                # at ε = 0 both ways are the total variation: π_i − π_{i−1} = δ·e^{ε(i − 1)}
                assert upper == pytest.approx(0.05 * 2.718281828459045 ** (0.5 * (row["frequency"] - 1)), rel=1e-12)
        at_its_own = certdp("psi", *KEYS, "--rows", 1, "--json").json["frequencies"][0]
        assert at_its_own["remove"] == pytest.approx([0.05, 0.05])
        assert at_its_own["add"] == [0, 0]

    def test_the_list_ends_where_all_keys_are_reported(self, certdp: Command) -> None:
        rows = certdp("psi", *KEYS, "--json").json["frequencies"]
        assert 1 < len(rows) <= 100
        assert rows[-1]["remove"] == rows[-1]["add"] == [0, 0]
        wide = ("--option", "epsilon=0.1", "--option", "delta=1e-9")
        assert len(certdp("psi", *KEYS[:4], *wide, "--json").json["frequencies"]) == 100

    def test_a_list_of_rates_ends_the_frequencies(self, certdp: Command, refusal: Command) -> None:
        listed = (
            "--mechanism",
            "pws-frequencies",
            "--sampler",
            "listed-rates",
            "--option",
            "rates=0.1,0.5,0.9",
            *BUDGET,
        )
        data = certdp("psi", *listed, "--json").json
        assert len(data["frequencies"]) == 3
        assert {"name": "largest frequency", "value": "3"} in data["assumptions"]
        assert "at most 3" in refusal("psi", *listed, "--rows", 4)["admissible"]

    def test_in_words(self, certdp: Command) -> None:
        out = certdp("psi", *SAMPLED).out
        for part in ("pws-keys on keys sampled by ppswor", "δ ≤ 0.0", "at ε = 0.5", "unit element", "Theorem 6 is not"):
            assert part in out
        assert "the supremum over all frequencies lies in" in out


def test_a_certificate_that_checks(certdp: Command, refusal: Command, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    data = certdp("psi", *KEYS, "--certificate", path, "--json").json
    assert data["certificate"] == str(path)
    stated = json.loads(path.read_text("utf-8"))
    assert (stated["claim"]["unit"], stated["claim"]["epsilon"]) == ("element", "1/2")
    assert certdp("check", path).code == 0
    assert f"certificate: {path}" in certdp("psi", *KEYS, "--certificate", path).out
    error = refusal("psi", *KEYS, "--certificate", path, "--epsilon", "0.3")
    assert "leave --epsilon out" in error["remedy"]
    assert "`certdp delta --certificate`" in error["remedy"]


class TestManyReleases:
    @pytest.mark.slow
    def test_epsilon_and_delta(self, certdp: Command) -> None:
        run = KeyedRun(mechanism=MECHANISM, sampler=EveryKey(), releases=3)
        steps = ("--steps", 3, "--resample", "each")
        data = certdp("epsilon", *KEYS, *steps, "--delta", "0.2", "--json").json
        answer = run.epsilon(Delta("0.2"))
        assert data["epsilon"] == [answer.epsilon.lower, answer.epsilon.upper]
        assert (data["guarantee"]["unit"], data["guarantee"]["domain"]) == ("element", None)
        data = certdp("delta", *KEYS, *steps, "--epsilon", "1", "--json").json
        assert data["delta"][1] == run.delta(Epsilon(1)).delta.upper
        assert {"name": "releases, each on a fresh sample with coins of its own", "value": "3"} in data["assumptions"]

    def test_one_sample_serves_one_release(self, certdp: Command, refusal: Command) -> None:
        error = refusal("epsilon", *KEYS, "--steps", 2, "--resample", "once", "--delta", "0.2")
        assert (error["parameter"], error["admissible"]) == ("resample", "each")
        assert certdp("epsilon", *KEYS, "--resample", "once", "--delta", "0.06").code == 0

    @pytest.mark.slow
    def test_a_plot(self, certdp: Command, tmp_path: Path) -> None:
        picture = tmp_path / "keys.png"
        assert certdp("delta", *KEYS, "--epsilon", "0.25", "--plot", picture).code == 0
        assert picture.read_bytes().startswith(b"\x89PNG")


class TestRefusals:
    @pytest.mark.parametrize(
        ("mechanism", "sampler", "words"),
        [
            ("pws-keys", "poisson", ("poisson", "pws-keys", "keyed data")),
            ("pws-frequencies", "full", ("full", "pws-frequencies", "keyed data")),
            ("laplace-sum", "ppswor", ("ppswor", "laplace-sum", "records")),
            ("gaussian-sum", "every-key", ("every-key", "gaussian-sum", "records")),
            ("pws-keys", "privacy-constrained", ("privacy-constrained", "pws-keys", "keyed data")),
        ],
    )
    @pytest.mark.parametrize("command", [("psi",), ("epsilon",), ("delta", "--epsilon", "1")])
    def test_keys_and_records_do_not_mix(
        self, refusal: Command, command: tuple[str, ...], mechanism: str, sampler: str, words: tuple[str, ...]
    ) -> None:
        error = refusal(*command, "--mechanism", mechanism, "--sampler", sampler)
        assert error["parameter"] == "sampler"
        for word in words:
            assert word in " ".join(error.values())

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("--delta", "0.1"),
            ("--order", "2"),
            ("--outside", "drop"),
            ("--data", "records.npy"),
            ("--plot", "out.png"),
            ("--owner-certificate", "out.json"),
        ],
    )
    def test_what_records_need(self, refusal: Command, tmp_path: Path, option: str, value: str) -> None:
        given = tmp_path / value if "." in value and value[0].isalpha() else value
        error = refusal("psi", *KEYS, option, given)
        assert (error["parameter"], error["admissible"]) == (option[2:], "nothing, for keyed data")

    def test_what_keys_need(self, refusal: Command, base: tuple[str, ...]) -> None:
        assert refusal(*base, "--epsilon", 1)["admissible"] == "nothing, for a mechanism on records"
        assert refusal(*base, "--rows", 1)["parameter"] == "rows"

    @pytest.mark.slow
    def test_options(self, refusal: Command) -> None:
        assert refusal("psi", *KEYS, "--option", "radius=1")["parameter"] == "option"
        assert refusal("psi", *KEYS[:4], "--option", "epsilon=1")["parameter"] == "delta"
        assert refusal("psi", *KEYS[:4], "--option", "epsilon=-1", "--option", "delta=0.1")["parameter"] == "epsilon"
        assert refusal("psi", *KEYS[:4], "--option", "epsilon=1", "--option", "delta=0")["parameter"] == "delta"

    def test_commands_about_records(self, refusal: Command, table: Path, tmp_path: Path) -> None:
        error = refusal("weights", *KEYS, "--data", table, "--output", tmp_path / "weights.csv")
        assert (error["parameter"], error["value"]) == ("mechanism", "pws-keys")


PLAN = """
unit = "element"

[domain]
radius = 1

[[release]]
mechanism = "laplace-sum"
sampler = "full"
option.scale = 2

[[release]]
mechanism = "pws-keys"
sampler = "ppswor"
resample = "each"
steps = 2
option = {epsilon = 0.5, delta = 0.05, threshold = 0.25}
"""


class TestPlanFiles:
    @pytest.fixture
    def write(self, tmp_path: Path) -> Callable[[str], Path]:
        def writing(text: str) -> Path:
            path = tmp_path / "plan.toml"
            path.write_text(text, "utf-8")
            return path

        return writing

    @pytest.mark.slow
    def test_records_that_are_elements_beside_keys(self, certdp: Command, write: Callable[[str], Path]) -> None:
        data = certdp("delta", "--plan", write(PLAN), "--epsilon", "1", "--json").json
        assert data["guarantee"]["unit"] == "element"
        assert [part["steps"] for part in data["plan"]["releases"]] == [1, 2]
        assert {"name": "each record of the matrix is one element", "value": "one occurrence of a key"} in data[
            "assumptions"
        ]
        assert data["delta"][1] < 0.15

    def test_a_plan_about_records_has_no_keys(self, refusal: Command, write: Callable[[str], Path]) -> None:
        error = refusal("delta", "--plan", write(PLAN.replace('unit = "element"', "")), "--epsilon", 1)
        assert (error["parameter"], error["value"]) == ("release[2].mechanism", "pws-keys")
        assert 'unit = "element"' in error["remedy"]

    def test_records_alone_may_be_elements(self, certdp: Command, write: Callable[[str], Path]) -> None:
        alone = PLAN[: PLAN.rindex("[[release]]")]
        data = certdp("epsilon", "--plan", write(alone), "--json").json
        assert (data["epsilon"], data["guarantee"]["unit"]) == ([0.5, 0.5], "element")

    @pytest.mark.parametrize("unit", ['"user"', "3", '""', "true"])
    def test_other_units(self, refusal: Command, write: Callable[[str], Path], unit: str) -> None:
        error = refusal("delta", "--plan", write(PLAN.replace('"element"', unit)), "--epsilon", 1)
        assert (error["parameter"], error["admissible"]) == ("unit", '"record" or "element"')

    def test_entries_are_named(self, refusal: Command, write: Callable[[str], Path]) -> None:
        for old, new, parameter in (
            ('"each"', '"once"', "release[2].resample"),
            ('sampler = "ppswor"', 'sampler = "poisson"', "release[2].sampler"),
            ("delta = 0.05", "delta = 0", "release[2].delta"),
        ):
            assert refusal("delta", "--plan", write(PLAN.replace(old, new)), "--epsilon", 1)["parameter"] == parameter

    @pytest.mark.slow
    def test_certificates_are_refused(self, refusal: Command, write: Callable[[str], Path], tmp_path: Path) -> None:
        out = tmp_path / "out.json"
        error = refusal("delta", "--plan", write(PLAN), "--epsilon", 1, "--certificate", out)
        assert "no kind of certificate yet" in error["remedy"]
        assert not out.exists()
