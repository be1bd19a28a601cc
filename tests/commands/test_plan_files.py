"""Plans from files: what they state, and refusals that name the entry, the value, what is admissible and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.errors import CertdpError, InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.accounting.relations import RELATIONS, ZERO_OUT, User
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce
from certdp.accounting.selection import PoissonRepetitions
from certdp.commands.plan_files import plan_from_file, stated_plan
from certdp.commands.requests import Admission
from certdp.mechanisms.count import Count
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.runs.allocated import AllocatedRun
from certdp.runs.plan import Plan
from certdp.runs.sampled import SampledRun
from certdp.runs.selected import SelectedRun
from certdp.runs.stratified import StratifiedRun
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson
from certdp.samplers.random_allocation import RandomAllocation
from certdp.samplers.strata import Strata

EXAMPLE = """
[domain]
radius = "1/2"
dimension = 3

[[release]]
mechanism = "gaussian-sum"
sampler = "poisson"
resample = "each"
steps = 1000
option = {noise_multiplier = 2, rate = 0.01, weighted = true}

[[release]]
mechanism = "laplace-sum"
sampler = "importance"
resample = "once"
steps = 2

[release.option]
scale = 1.5
rate = 0.3
sampler.norm = 1

[[release]]
mechanism = "count"
sampler = "full"
option.mechanism.scale = 10
"""

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(text, "utf-8")
        return path

    return written


def test_a_plan_is_what_the_file_states(write: Write) -> None:
    ball = NormBall(norm=Norm.L1, radius=Public("1/2"), dimension=3)
    expected = Plan(
        [
            SampledRun(
                mechanism=GaussianSum(noise_multiplier=Public(2)),
                sampler=Poisson(rate=Public("0.01"), weighted=Public(True)),
                releases=ResampleEach(1000),
                domain=ball,
            ),
            SampledRun(
                mechanism=LaplaceSum(scale=Public("1.5")),
                sampler=Importance(rate=Public("0.3"), norm=Public(1)),
                releases=SampleOnce(2),
                domain=ball,
            ),
            SampledRun(mechanism=Count(scale=Public(10)), sampler=Full(), domain=ball),
        ]
    )
    assert plan_from_file(write(EXAMPLE)) == expected
    assert plan_from_file(str(write(EXAMPLE))) == expected


def test_decimals_are_read_exactly(write: Write) -> None:
    plan = plan_from_file(write(EXAMPLE))
    sampler: Any = plan.sampled_parts[0].sampler
    assert sampler.probability.value == Fraction(1, 100)


def test_the_norm_is_that_of_the_parts_or_as_stated(write: Write) -> None:
    gaussian = '[[release]]\nmechanism="gaussian-sum"\nsampler="full"\noption.scale=1\n'
    laplace = '[[release]]\nmechanism="laplace-sum"\nsampler="full"\noption.scale=1\n'
    count = '[[release]]\nmechanism="count"\nsampler="full"\noption.scale=1\n'
    domain = "[domain]\nradius=1\ndimension=2\n"
    for text, norm in ((gaussian + count, Norm.L2), (count + laplace, Norm.L1), (count, Norm.L1)):
        plan = plan_from_file(write(domain + text))
        assert plan.domain is not None
        assert plan.domain.norm == norm
    with pytest.raises(InvalidValue, match=r"domain\.norm: got nothing; admissible: 2 or 1"):
        plan_from_file(write(domain + gaussian + laplace))
    plan = plan_from_file(write(f'{domain}norm="inf"\n{gaussian}{laplace}'))
    assert plan.domain == NormBall(norm=Norm.LINF, radius=Public(1), dimension=2)
    assert plan_from_file(write(count)).domain is None


NOISY = '[[release]]\nmechanism="gaussian-sum"\noption.noise_multiplier=2\n'
DRAWN = f'{NOISY}sampler="poisson"\noption.rate=0.01\n'
ALLOCATED = f'{NOISY}sampler="random-allocation"\noption.batches=4\nsteps=2\nresample="each"\n'
SHUFFLED = f'{NOISY}sampler="shuffled-batches"\noption.batch_size=2\noption.data_size=8\n'
STRATA = f'{NOISY}sampler="strata"\noption.rates="a:0.1,b:0.2"\n'
BEST = f'{DRAWN}repetitions={{law="poisson", mean=3}}\n'
MULTIPLIER = Public(2)


def test_epochs_strata_and_the_best_of_several_runs_are_parts(write: Write) -> None:
    mechanism = GaussianSum(noise_multiplier=MULTIPLIER)
    drawn = SampledRun(mechanism=mechanism, sampler=Poisson(rate=Public("0.01")))
    assert plan_from_file(write(ALLOCATED + STRATA + BEST)) == Plan(
        [
            AllocatedRun(mechanism=mechanism, sampler=RandomAllocation(batches=Public(4)), epochs=2),
            StratifiedRun(mechanism=mechanism, sampler=Strata(rates=Public({"a": "0.1", "b": "0.2"}))),
            SelectedRun(base=drawn, repetitions=PoissonRepetitions(mean=Public(3))),
        ]
    )


def test_strata_of_norms_are_within_the_domain_of_all_parts(write: Write) -> None:
    strata = (
        '[[release]]\nmechanism="gaussian-sum"\nsampler="norm-strata"\noption={scale=2, bounds="1", rates="0.1,0.2"}\n'
    )
    plan = plan_from_file(write(f"[domain]\nradius=2\n{strata}"))
    assert plan.domain == NormBall(norm=Norm.L2, radius=Public(2))


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_change_of_the_data_goes_to_every_part(write: Write, relation: str) -> None:
    plan = stated_plan(write(DRAWN + BEST + STRATA), Admission(), relation=relation).plan
    assert {part.relation.name for part in plan.parts} == {relation}
    assert len({str(part.pairs.bounding) for part in plan.parts}) == 3


def test_parts_with_no_common_change_of_their_own_have_one_that_is_asked_about(write: Write) -> None:
    path = write(DRAWN + SHUFFLED)
    with pytest.raises(InvalidValue, match=r"parts\[1\]\.relation: got zero-out; admissible: add-remove") as refused:
        plan_from_file(path)
    assert "--relation" in str(refused.value)
    assert stated_plan(path, Admission(), relation="zero-out").plan.relation == ZERO_OUT


def test_users_are_in_every_part(write: Write) -> None:
    plan = stated_plan(write(DRAWN + BEST), Admission(), contributions=2).plan
    assert plan.unit == User(contributions=2)


RELEASE = '[[release]]\nmechanism="laplace-sum"\nsampler="poisson"\n'
GOOD = f"{RELEASE}option={{scale=1, rate=0.5}}\n"
DOMAIN = "[domain]\nradius=1\n"


@pytest.mark.parametrize(
    ("text", "parameter", "words"),
    [
        ("", "release", "[[release]]"),
        ("release=3", "release", "[[release]]"),
        ("release=[3]", "release[1]", "a table"),
        (f"domain=3\n{GOOD}", "domain", "a table"),
        (f"colour=1\n{GOOD}", "colour", "domain, release"),
        (f"[domain]\nradius=1\ncolour=1\n{GOOD}", "domain.colour", "radius"),
        (f"{DOMAIN}{GOOD}colour=1\n", "release[1].colour", "steps"),
        (f"{DOMAIN}{GOOD}{GOOD}step=2\n", "release[2].step", "steps"),
        (f'{DOMAIN}[[release]]\nsampler="full"\n', "release[1].mechanism", "registered"),
        (f'{DOMAIN}[[release]]\nmechanism=""\nsampler="full"\n', "release[1].mechanism", "a name"),
        (f'{DOMAIN}[[release]]\nmechanism="count"\nsampler=3\n', "release[1].sampler", "a name"),
        (f"{DOMAIN}{GOOD}steps=0\n", "release[1].steps", "whole number ≥ 1"),
        (f"{DOMAIN}{GOOD}steps=true\n", "release[1].steps", "whole number ≥ 1"),
        (f"{DOMAIN}{GOOD}steps=1.5\n", "release[1].steps", "whole number ≥ 1"),
        (f"{DOMAIN}{GOOD}steps=2\n", "release[1].resample", "say which"),
        (f'{DOMAIN}{GOOD}steps=2\nresample="twice"\n', "release[1].resample", '"once" or "each"'),
        (f"{DOMAIN}{RELEASE}option={{scale=1, rate=2}}\n", "release[1].rate", "0 ≤ q ≤ 1"),
        (f"{DOMAIN}{RELEASE}option={{scale=1}}\n", "release[1].rate", "probability"),
        (f"{DOMAIN}{RELEASE}option={{scale=1, rate=0.5, colour=3}}\n", "release[1].option", "a declared option"),
        (f"{DOMAIN}{RELEASE}option={{scale=[1], rate=0.5}}\n", "release[1].option.scale", "a number"),
        (f"{DOMAIN}{RELEASE}option={{scale=nan, rate=0.5}}\n", "release[1].scale", "number"),
        (f"{DOMAIN}{RELEASE}option={{scale=1, rate=0.5, radius=2}}\n", "release[1].option.radius", "[domain]"),
        (f"{DOMAIN}{RELEASE}option={{mechanism=1, rate=0.5}}\n", "release[1].option.mechanism", "a table"),
        (f"{DOMAIN}{RELEASE}option=3\n", "release[1].option", "a table"),
        (GOOD, "release[1].radius", "public bound"),
        (f"[domain]\nnorm=1\n{GOOD}", "domain.norm", "Declare a radius too"),
        (f"[domain]\nradius=-1\n{GOOD}", "domain.radius", "a number > 0"),
        (f"[domain]\nradius=[1]\n{GOOD}", "domain.radius", "a number"),
        (f"[domain]\nradius=1\nnorm=0.5\n{GOOD}", "domain.norm", ""),
        (f'[domain]\nradius=1\ndimension="x"\n{GOOD}', "domain.dimension", "whole number"),
        ("[domain\n", "plan", "syntax"),
        (ALLOCATED.replace("each", "once"), "release[1].resample", "Each epoch draws its batches afresh"),
        (f'{STRATA}repetitions={{law="poisson", mean=3}}\n', "release[1].repetitions", "without strata"),
        (f'unit="element"\n{DRAWN}{ALLOCATED}', "release[2].unit", "record, with sampler random-allocation"),
        (f'unit="element"\n{STRATA}', "release[1].unit", "record, with sampler strata"),
        (ALLOCATED.replace("4", "0"), "release[1].batches", "a whole number ≥ 1"),
        (SHUFFLED.replace("8", "7"), "release[1].batch_size", "whole multiple"),
    ],
)
def test_refusals_name_the_entry(write: Write, text: str, parameter: str, words: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        plan_from_file(write(text))
    assert refused.value.parameter == parameter
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "relation", "contributions", "parameter"),
    [
        (DRAWN, "swap", None, "relation"),
        (DRAWN + ALLOCATED, "replace", None, "release[2].relation"),
        (ALLOCATED, None, 2, "release[1].contributions"),
        (DRAWN, None, 65, "release[1].unit"),
        ('[[release]]\nmechanism="laplace-sum"\nsampler="shuffled-batches"\n', "replace", None, "release[1].scale"),
    ],
)
def test_what_no_theorem_covers_is_refused_by_its_part(
    write: Write, text: str, relation: str | None, contributions: int | None, parameter: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        stated_plan(write(text), Admission(), relation=relation, contributions=contributions)
    assert refused.value.parameter == parameter


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="cannot be read"):
        plan_from_file(tmp_path / "absent.toml")
    with pytest.raises(InvalidValue, match="cannot be read"):
        plan_from_file(tmp_path)
    wrong = tmp_path / "wrong.toml"
    wrong.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidValue, match="UTF-8"):
        plan_from_file(wrong)
    wrong.write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(InvalidValue, match="at most"):
        plan_from_file(wrong)
    wrong.write_text("a=" + "[" * 5000 + "]" * 5000, "utf-8")
    with pytest.raises(CertdpError):
        plan_from_file(wrong)


def test_nothing_in_a_file_is_run(write: Write) -> None:
    """Names are looked up among registered plugins; a module path is only an unknown name."""
    for name in ("certdp.mechanisms.count:Count", "os:system", "__import__('os')"):
        with pytest.raises(InvalidValue, match=r"release\[1\]\.mechanism: got .* one of: "):
            plan_from_file(write(f'[[release]]\nmechanism="{name}"\nsampler="full"\n'))


SMALL = '[[release]]\nmechanism="count"\nsampler="full"\noption.scale=4\n' * 2


class TestCommands:
    """`certdp epsilon --plan FILE` and `certdp delta --plan FILE`."""

    def test_what_a_plan_costs(self, write: Write, certdp: Any) -> None:
        path = write(SMALL)
        data = certdp("epsilon", "--plan", path, "--json").json
        assert data["epsilon"] == [0.5, 0.5]
        alone = {"repetitions": None, "strategy": None}
        part = {"mechanism": "count", "sampler": "full", "resample": "each", "steps": 1, **alone}
        assert data["plan"] == {"file": str(path), "releases": [part, part]}
        assert (data["mechanism"], data["sampler"], data["steps"]) == (None, None, None)
        assert {"name": "part 2", "value": "count (scale=4) · full · 1 release"} in data["assumptions"]
        basic = ("--plan", path, "--accountant", "basic")
        assert certdp("delta", *basic, "--epsilon", "0.5", "--json").json["delta"][1] == 0
        words = certdp("epsilon", *basic).out
        assert words.count("count on a sample drawn by full") == 2
        assert "0.5-DP" in words

    @pytest.mark.parametrize(
        ("others", "parameter"),
        [
            (("--mechanism", "count"), "mechanism"),
            (("--sampler", "full"), "sampler"),
            (("--option", "scale=1"), "option"),
            (("--resample", "each"), "resample"),
            (("--steps", 2), "steps"),
        ],
    )
    def test_nothing_beside_a_plan_says_what_is_released(
        self, write: Write, refusal: Any, others: tuple[Any, ...], parameter: str
    ) -> None:
        error = refusal("epsilon", "--plan", write(SMALL), *others)
        assert (error["parameter"], error["admissible"]) == (parameter, "nothing, beside a plan")

    def test_each_part_is_told_as_it_is_drawn(self, write: Write, certdp: Any) -> None:
        path = write(
            ALLOCATED + BEST.replace("poisson", "fixed", 2).replace("fixed", "poisson", 1).replace("mean", "times")
        )
        words = certdp("epsilon", "--plan", path, "--delta", "1e-5").out
        assert "on each batch drawn by random-allocation, 2 epochs of 4 batches" in words
        assert "repeated, and the best output told" in words

    def test_one_of_the_two_is_needed(self, refusal: Any) -> None:
        assert refusal("epsilon")["parameter"] == "mechanism"
        assert "--plan FILE" in refusal("delta", "--epsilon", 1, "--mechanism", "count")["remedy"]

    def test_an_entry_of_the_file_is_named(self, write: Write, refusal: Any) -> None:
        error = refusal("epsilon", "--plan", write(SMALL + "steps=0\n"))
        assert (error["parameter"], error["value"]) == ("release[2].steps", "0")
