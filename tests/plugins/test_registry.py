"""Plugins of other distributions, really installed: those that work, and all the ways in which they do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from certdp.accounting.errors import InvalidValue
from certdp.mechanisms.count import Count
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.registry import PluginError, Registry, Role, Status, origin

PREAMBLE = """
from typing import Any, ClassVar
import attrs
import numpy as np
from certdp.accounting.derivation import Evidence
from certdp.accounting.expressions import ORDER, Constant, W, maximum, minimum, norm
from certdp.accounting.sampling.losses import PureLoss, RenyiLoss
from certdp.accounting.sampling.rate import SamplingRate
from certdp.plugins.contract import (
    CONTRACT_VERSION, About, Claim, Finding, Public, Real, named, positive, probability,
)


def about(name, **changes):
    stated = dict(name=name, version="7", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="Nobody 2026")
    return About(**{**stated, **changes})

""".replace(" Public,", "")
MECHANISM = """
@attrs.frozen(kw_only=True, field_transformer=named)
class {klass}:
    about: ClassVar[Any] = about("{name}"{changes})
    scale: Real = attrs.field(converter=positive, metadata={{"help": "how wide"}})

    @property
    def loss(self):
        return {loss}

    def release(self, sample, coins):
        return sample.weights @ sample.records + coins.laplace(self.scale.value, sample.records.shape[1])

"""
SAMPLER = """
@attrs.frozen(kw_only=True, field_transformer=named)
class Capped:
    about: ClassVar[Any] = about("capped")
    cap: Real = attrs.field(converter=positive)
    least: Real = attrs.field(converter=probability)

    @property
    def rate(self):
        share = norm(2) / self.cap.value
        return SamplingRate(minimum(1, maximum(self.least.value, share)), weighted=True)

"""
PURE = "PureLoss(W * norm(2) / self.scale.value)"


def mechanism(name: str, klass: str = "Third", loss: str = PURE, changes: str = "") -> str:
    return MECHANISM.format(name=name, klass=klass, loss=loss, changes=changes)


Entries = Mapping[str, Mapping[str, str]]


def install(folder: Path, distribution: str, module: str, source: str, entries: Entries) -> None:
    """What an installer leaves in site-packages."""
    (folder / f"{module}.py").write_text(PREAMBLE + source, encoding="utf-8")
    info = folder / f"{distribution.replace('-', '_')}-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.5\n", encoding="utf-8")
    lines = [
        line
        for group, names in entries.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in names.items()), "")
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def certdp(*arguments: object, cwd: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PYTHONIOENCODING": "utf-8"} | ({} if site is None else {"PYTHONPATH": str(site)})
    return subprocess.run(
        [sys.executable, "-m", "certdp", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment,
        check=False,
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


class TestEndToEnd:
    @pytest.fixture
    def installed(self, site: Path) -> Path:
        source = (
            mechanism("third-sum")
            + mechanism("cited-sum", "Cited", changes=", evidence=Evidence.CITED")
            + mechanism("hunch-sum", "Hunch", changes=", evidence=Evidence.HEURISTIC")
            + mechanism("renyi-sum", "Renyi", loss="RenyiLoss(ORDER * W * norm(2) / self.scale.value)")
            + mechanism("clumsy-sum", "Clumsy", loss="1 / 0")
            + mechanism("plain-sum", "Plain", loss="3.5")
            + mechanism("picky-sum", "Picky").replace("converter=positive", "converter=lambda value: 1 / 0")
            + SAMPLER
        )
        names = {
            "third-sum": "Third",
            "cited-sum": "Cited",
            "hunch-sum": "Hunch",
            "renyi-sum": "Renyi",
            "clumsy-sum": "Clumsy",
            "picky-sum": "Picky",
            "plain-sum": "Plain",
        }
        entries = {
            "certdp.mechanisms": {name: f"third_party_sums:{klass}" for name, klass in names.items()},
            "certdp.samplers": {"capped": "third_party_sums:Capped"},
        }
        install(site, "third-party-sums", "third_party_sums", source, entries)
        return site

    def psi(self, installed: Path, tmp_path: Path, name: str, *more: object) -> subprocess.CompletedProcess[str]:
        return certdp(
            *("psi", "--mechanism", name, "--sampler", "capped", "--option", "scale=2", "--option", "cap=3"),
            *("--option", "least=0.05", "--option", "radius=2", "--json", *more),
            cwd=tmp_path,
            site=installed,
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["third-sum", "cited-sum"])
    def test_a_certificate_outlives_its_plugin(self, installed: Path, tmp_path: Path, name: str) -> None:
        ran = self.psi(installed, tmp_path, name, "--certificate", "out.json")
        assert (ran.returncode, ran.stderr) == (0, "")
        data = json.loads(ran.stdout)
        assert data["mechanism"]["distribution"] == data["sampler"]["distribution"] == "third-party-sums"
        assert (data["mechanism"]["version"], data["mechanism"]["citation"]) == ("7", "Nobody 2026")
        assert data["sampler"]["options"] == {"cap": "3", "least": "1/20"}
        assert data["epsilon"][1] == pytest.approx(1.5 + 0, abs=0.5)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        without = certdp("plugins", "--json", cwd=elsewhere)
        assert "third-party-sums" not in without.stdout
        checked = certdp("check", tmp_path / "out.json", "--json", cwd=elsewhere)
        assert (checked.returncode, checked.stderr) == (3, "")
        result = json.loads(checked.stdout)
        assert result["verdict"] == "holds assuming the profile"
        assert result["epsilon"] == data["epsilon"]

    @pytest.mark.slow
    def test_heuristic_evidence_certifies_nothing(self, installed: Path, tmp_path: Path) -> None:
        ran = self.psi(installed, tmp_path, "hunch-sum", "--certificate", "out.json")
        assert ran.returncode == 2
        error = json.loads(ran.stdout)["error"]
        assert (error["parameter"], error["value"]) == ("evidence of mechanism hunch-sum", "heuristic")
        assert error["admissible"] == "proved or cited"
        assert not (tmp_path / "out.json").exists()

    @pytest.mark.slow
    def test_a_mechanism_without_a_pure_value(self, installed: Path, tmp_path: Path) -> None:
        ran = self.psi(installed, tmp_path, "renyi-sum")
        assert ran.returncode == 2
        error = json.loads(ran.stdout)["error"]
        assert error["parameter"] == "mechanism"
        assert "state --delta D or --order A" in error["remedy"]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("target", "notion", "figure"), [("--delta=1e-6", "approximate", "epsilon"), ("--order=8", "Rényi", "tau")]
    )
    def test_a_target_in_another_notion(
        self, installed: Path, tmp_path: Path, target: str, notion: str, figure: str
    ) -> None:
        ran = self.psi(installed, tmp_path, "renyi-sum", target)
        assert (ran.returncode, ran.stderr) == (0, "")
        data = json.loads(ran.stdout)
        assert data["guarantee"]["notion"] == notion
        assert 0 < data[figure][1] < 100

    def test_an_accident_in_a_plugin_is_reported_as_its_own(self, installed: Path, tmp_path: Path) -> None:
        ran = self.psi(installed, tmp_path, "clumsy-sum")
        assert (ran.returncode, ran.stderr) == (2, "")
        error = json.loads(ran.stdout)["error"]
        assert (error["parameter"], error["value"]) == ("mechanism", "clumsy-sum")
        assert "ZeroDivisionError: division by zero" in error["remedy"]
        assert "third-party-sums" in error["remedy"]

    def test_an_accident_in_a_converter(self, installed: Path, tmp_path: Path) -> None:
        ran = self.psi(installed, tmp_path, "picky-sum")
        assert (ran.returncode, ran.stderr) == (2, "")
        error = json.loads(ran.stdout)["error"]
        assert (error["parameter"], error["value"]) == ("mechanism", "scale=2")
        assert "ZeroDivisionError: division by zero" in error["remedy"]

    def test_a_loss_of_another_type(self, installed: Path, tmp_path: Path) -> None:
        ran = self.psi(installed, tmp_path, "plain-sum")
        assert (ran.returncode, ran.stderr) == (2, "")
        error = json.loads(ran.stdout)["error"]
        assert (error["parameter"], error["value"]) == ("loss", "3.5")
        assert error["admissible"] == "a loss, such as PureLoss or GaussianLoss"

    @pytest.mark.parametrize(("option", "parameter"), [("scale=0", "scale"), ("cap=-1", "cap"), ("least=2", "least")])
    def test_its_parameters_are_read_like_built_in_ones(
        self, installed: Path, tmp_path: Path, option: str, parameter: str
    ) -> None:
        given = {"scale": "2", "cap": "3", "least": "0.1"} | dict([option.split("=")])
        flags = [word for key, value in given.items() for word in ("--option", f"{key}={value}")]
        ran = certdp("psi", "--mechanism", "third-sum", "--sampler", "capped", *flags, cwd=tmp_path, site=installed)
        assert ran.returncode == 2
        assert ran.stderr.startswith(f"error: {parameter}: got {option.split('=')[1]}; admissible: ")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("flags", "reason"),
        [
            (["--no-third-party"], "third-party plugins are switched off"),
            (["--allow", "someone-else"], "not on the allow-list"),
            (["--allow", "Third_Party.Sums"], None),
            (["--allow", "someone-else", "--allow", "third-party-sums"], None),
        ],
    )
    def test_blocking(self, installed: Path, tmp_path: Path, flags: list[str], reason: str | None) -> None:
        ran = self.psi(installed, tmp_path, "third-sum", *flags)
        if reason is None:
            assert ran.returncode == 0
            return
        assert ran.returncode == 2
        error = json.loads(ran.stdout)["error"]
        assert (error["parameter"], error["value"]) == ("mechanism", "third-sum of distribution third-party-sums")
        assert reason in error["remedy"]
        built_in = certdp(
            *("psi", "--mechanism", "count", "--sampler", "full", "--option", "scale=1", "--json", *flags),
            cwd=tmp_path,
            site=installed,
        )
        assert built_in.returncode == 0

    def test_listing_imports_none(self, installed: Path, tmp_path: Path) -> None:
        program = (
            "import sys; from certdp.plugins.registry import Registry; found = Registry().listings(); "
            "print(sorted({item.distribution for item in found})); "
            "print([name for name in sys.modules if name.startswith(('third_party', 'certdp.mechanisms.', "
            "'certdp.samplers.', 'certdp.verification'))])"
        )
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=True,
        )
        assert ran.stdout.splitlines() == ["['certdp', 'third-party-sums']", "[]"]


ADD = Callable[..., None]


@pytest.fixture
def add(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ADD]:
    """Install distributions beside those of this interpreter."""
    monkeypatch.syspath_prepend(str(site))
    before = set(sys.modules)

    def distribution(name: str, source: str, entries: Entries) -> None:
        install(site, name, name.replace("-", "_"), source, entries)

    yield distribution
    for module in set(sys.modules) - before:
        if module.startswith("odd_"):
            del sys.modules[module]


def status(registry: Registry, distribution: str) -> Status:
    (found,) = [status for status in registry.statuses() if status.listing.distribution == distribution]
    return found


def all_else_works(registry: Registry) -> None:
    built_in = [status for status in registry.statuses() if status.listing.built_in]
    assert len(built_in) >= 7
    assert all(status.valid for status in built_in)
    assert registry.get(Role.MECHANISM, "laplace-sum") is LaplaceSum


GOOD = mechanism("odd")
TARGET = {"certdp.mechanisms": {"odd": "odd_party:Third"}}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_module_at_all", "its import fails with ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)", "its import fails with SystemExit: 3"),
        ("raise KeyboardInterrupt", "its import fails with KeyboardInterrupt"),
        ("def broken(:", "its import fails with SyntaxError"),
        ("Third", "its import fails with NameError"),
        ("", "its import fails with AttributeError"),
        ("Third = 3", "odd_party:Third is no class but 3"),
        (GOOD.replace('about("odd"', 'about("odd", contract=99'), "contract version 99; this"),
        (GOOD.replace('about("odd")', '{"name": "odd"}'), "no attribute `about` of type About"),
        (GOOD.replace('    about: ClassVar[Any] = about("odd")\n', ""), "no attribute `about` of type About"),
        (GOOD.replace('about("odd")', 'about("even")'), "it calls itself 'even' but registers as 'odd'"),
        (GOOD.replace('about("odd")', 'about("Odd Name")'), "its import fails with InvalidValue: name: got Odd Name"),
        (GOOD.replace("@attrs.frozen", "@attrs.define"), "class Third is no frozen attrs class"),
        (GOOD.replace("@attrs.frozen", "@attrs.define(on_setattr=[])\nclass X: pass\n@attrs.define"), "no frozen"),
        (GOOD.replace("@attrs.frozen(kw_only=True, field_transformer=named)\n", ""), "class Third is no frozen"),
        (
            GOOD.replace('attrs.field(converter=positive, metadata={"help": "how wide"})', "attrs.field()"),
            "parameter scale has no converter",
        ),
        (
            GOOD.replace("release(self, sample, coins)", "release(self, data)"),
            "its method is release(self, data); the contract wants release(self, sample, coins)",
        ),
        (
            GOOD.replace("release(self, sample, coins)", "release(self, sample, coins, *, seed)"),
            "its method is release(self, sample, coins, *, seed); the contract wants release(self, sample, coins)",
        ),
        (GOOD.replace("def release(", "def run("), "class Third has no method release(self, sample, coins)"),
        (GOOD.replace("    @property\n", ""), "class Third has no property `loss`"),
        (GOOD.replace("def loss(", "def cost("), "class Third has no property `loss`"),
        (
            "class Meta(type):\n    @property\n    def about(cls): raise RuntimeError('boo [red]')\n"
            + GOOD.replace("class Third:", "class Third(metaclass=Meta):").replace("    about: Clas", "    x: Clas"),
            "its validation fails with RuntimeError: boo [red]",
        ),
    ],
)
def test_a_mechanism_that_cannot_be_used(add: ADD, source: str, reason: str) -> None:
    add("odd-party", source, TARGET)
    registry = Registry()
    found = status(registry, "odd-party")
    assert (found.listing.name, found.listing.version, found.listing.role) == ("odd", "2.5", Role.MECHANISM)
    assert found.problem is not None
    assert reason in found.problem
    with pytest.raises(PluginError) as caught:
        registry.get(Role.MECHANISM, "odd")
    assert str(caught.value) == f"mechanism odd of distribution odd-party: {found.problem}"
    all_else_works(registry)


def test_the_same_mechanism_in_order_is_valid(add: ADD) -> None:
    add("odd-party", GOOD, TARGET)
    assert status(Registry(), "odd-party").problem is None
    plugin = Registry().get(Role.MECHANISM, "odd")
    assert plugin.__name__ == "Third"
    assert origin(object.__new__(plugin)) == ("odd-party", "2.5")


def test_a_sampler_without_a_rate(add: ADD) -> None:
    add("odd-party", SAMPLER.replace("def rate(", "def q("), {"certdp.samplers": {"capped": "odd_party:Capped"}})
    assert status(Registry(), "odd-party").problem == "class Capped has no property `rate`"
    all_else_works(Registry())


SANITISER = """
from certdp.accounting.keyed.reporting import KeyTable
from certdp.accounting.relations import ELEMENT, User
from certdp.accounting.units import Delta, Epsilon


@attrs.frozen(kw_only=True, field_transformer=named)
class Third:
    about: ClassVar[Any] = about("odd", unit=ELEMENT)
    most: Real = attrs.field(converter=probability)

    def reporting(self, inclusion):
        return KeyTable(epsilon=Epsilon(1), delta=Delta(self.most.value), inclusion=inclusion)
"""
KEY_SAMPLER = """
from certdp.accounting.keyed.reporting import EveryKey
from certdp.accounting.relations import ELEMENT


@attrs.frozen
class Third:
    about: ClassVar[Any] = about("odd", unit=ELEMENT)

    @property
    def inclusion(self):
        return EveryKey()
"""


class TestPluginsForKeys:
    @pytest.mark.slow
    def test_good_ones_work_together(self, add: ADD, tmp_path: Path, site: Path) -> None:
        add("odd-party", SANITISER, TARGET)
        add("odd-other", KEY_SAMPLER, {"certdp.samplers": {"odd": "odd_other:Third"}})
        assert [status(Registry(), name).problem for name in ("odd-party", "odd-other")] == [None, None]
        ran = certdp(
            *("delta", "--mechanism", "odd", "--sampler", "odd", "--option", "most=0.01", "--epsilon", 1, "--json"),
            cwd=tmp_path,
            site=site,
        )
        data = json.loads(ran.stdout)
        assert data["delta"] == pytest.approx([0.01, 0.01])
        assert data["guarantee"]["unit"] == "element"
        assert {"name": "evidence of mechanism odd", "value": "proved"} in data["assumptions"]

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            (SANITISER.replace(", unit=ELEMENT", ""), "its data are keyed, so its unit must be ELEMENT, not Record()"),
            (
                SANITISER.replace("unit=ELEMENT", "unit=User(contributions=3)"),
                "must be ELEMENT, not User(contributions=3)",
            ),
            (SANITISER.replace("def reporting(", "def table("), "class Third has no method reporting(self, inclusion)"),
            (
                SANITISER.replace("reporting(self, inclusion)", "reporting(self)"),
                "its method is reporting(self); the contract wants reporting(self, inclusion)",
            ),
            (
                SANITISER.replace("    def rep", "    @property\n    def rep"),
                "has no method reporting(self, inclusion)",
            ),
        ],
    )
    def test_a_sanitiser_that_cannot_be_used(self, add: ADD, source: str, reason: str) -> None:
        add("odd-party", source, TARGET)
        found = status(Registry(), "odd-party").problem
        assert found is not None
        assert reason in found
        all_else_works(Registry())

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            (
                KEY_SAMPLER.replace(", unit=ELEMENT", ""),
                "its data are keyed, so its unit must be ELEMENT, not Record()",
            ),
            (KEY_SAMPLER.replace("def inclusion(", "def rates("), "class Third has no property `inclusion`"),
            (KEY_SAMPLER.replace("    @property\n", ""), "class Third has no property `inclusion`"),
        ],
    )
    def test_a_sampler_that_cannot_be_used(self, add: ADD, source: str, reason: str) -> None:
        add("odd-party", source, {"certdp.samplers": {"odd": "odd_party:Third"}})
        found = status(Registry(), "odd-party").problem
        assert found is not None
        assert reason in found
        all_else_works(Registry())

    @pytest.mark.slow
    def test_the_command_says_so(self, add: ADD, tmp_path: Path, site: Path) -> None:
        add("odd-party", SANITISER.replace(", unit=ELEMENT", ""), TARGET)
        rows = json.loads(certdp("plugins", "--json", cwd=tmp_path, site=site).stdout)["plugins"]
        (mine,) = [row for row in rows if row["distribution"] == "odd-party"]
        assert "its unit must be ELEMENT" in str(mine)
        valid = {row["name"] for row in rows if row["distribution"] == "certdp"}
        assert valid >= {"pws-keys", "pws-frequencies", "every-key", "ppswor", "pps", "listed-rates"}

    def test_an_accident_is_reported_as_its_own(self, add: ADD, tmp_path: Path, site: Path) -> None:
        add("odd-party", SANITISER.replace("return KeyTable(", "return 1 / 0 * KeyTable("), TARGET)
        ran = certdp(
            *("psi", "--mechanism", "odd", "--sampler", "every-key", "--option", "most=0.01", "--json"),
            cwd=tmp_path,
            site=site,
        )
        error = json.loads(ran.stdout)["error"]
        assert error["admissible"] == "a mechanism whose reporting can be computed from its options"
        assert "ZeroDivisionError" in error["remedy"]
        assert "Report that to distribution odd-party" in error["remedy"]


@pytest.mark.slow
def test_an_import_that_takes_too_long(add: ADD) -> None:
    add("odd-party", "import time; time.sleep(3600)\n" + GOOD, TARGET)
    found = status(Registry(seconds=0.2), "odd-party")
    assert found.problem == "its import takes longer than 0.2 s"
    with pytest.raises(PluginError, match=r"longer than 0\.2 s"):
        Registry(seconds=0.2).get(Role.MECHANISM, "odd")
    all_else_works(Registry(seconds=0.2))
    time.sleep(2.5)  # until the thread that imports it is done: other tests count modules


def test_a_clash_with_a_built_in(add: ADD) -> None:
    add("odd-party", mechanism("count"), {"certdp.mechanisms": {"count": "odd_party:Third"}})
    assert Registry().get(Role.MECHANISM, "count") is Count
    problem = status(Registry(), "odd-party").problem
    assert problem is not None
    assert "its name clashes with the one of certdp" in problem
    all_else_works(Registry())


def test_a_clash_between_third_parties(add: ADD) -> None:
    add("odd-party", GOOD, TARGET)
    add("odd-rival", GOOD, {"certdp.mechanisms": {"odd": "odd_rival:Third"}})
    registry = Registry()
    for one, other in (("odd-party", "odd-rival"), ("odd-rival", "odd-party")):
        problem = status(registry, one).problem
        assert problem is not None
        assert f"its name clashes with the one of {other}" in problem
    with pytest.raises(PluginError, match="clashes"):
        registry.get(Role.MECHANISM, "odd")
    all_else_works(registry)


@pytest.mark.parametrize("allowed", ["odd-party", "odd-rival"])
def test_an_allow_list_settles_a_clash(add: ADD, allowed: str) -> None:
    add("odd-party", GOOD, TARGET)
    add("odd-rival", GOOD, {"certdp.mechanisms": {"odd": "odd_rival:Third"}})
    plugin = Registry(allow=[allowed]).get(Role.MECHANISM, "odd")
    assert plugin.__module__ == allowed.replace("-", "_")


def test_the_same_name_in_two_roles_is_no_clash(add: ADD) -> None:
    add("odd-party", mechanism("poisson"), {"certdp.mechanisms": {"poisson": "odd_party:Third"}})
    assert status(Registry(), "odd-party").valid


@pytest.mark.parametrize(
    ("registry", "reason"),
    [
        (Registry(third_party=False), "blocked: third-party plugins are switched off"),
        (Registry(allow=[]), "blocked: its distribution is not on the allow-list"),
        (Registry(allow=["odd-rival"]), "blocked: its distribution is not on the allow-list"),
    ],
)
def test_a_blocked_plugin_is_not_even_imported(add: ADD, registry: Registry, reason: str) -> None:
    add("odd-party", "raise RuntimeError('imported')", TARGET)
    assert status(registry, "odd-party").problem == reason
    with pytest.raises(PluginError, match=reason):
        registry.get(Role.MECHANISM, "odd")
    assert "odd_party" not in sys.modules
    all_else_works(registry)


def test_an_allowed_plugin_works(add: ADD) -> None:
    add("odd-party", GOOD, TARGET)
    assert Registry(allow=["Odd_Party"]).get(Role.MECHANISM, "odd").__name__ == "Third"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InvalidValue) as caught:
        Registry().get(Role.SAMPLER, "uniform")
    error = caught.value
    assert (error.parameter, error.value) == ("sampler", "uniform")
    assert error.admissible.startswith("one of: ")
    assert {"full", "importance", "poisson"} <= set(error.admissible.removeprefix("one of: ").split(", "))
    assert "certdp plugins" in error.remedy


CLAIM = """
def claim(identifier):
    return Claim(id=identifier, statement="S", says="s", cases=dict, examine=lambda case: Finding(True, "", ""))

"""


class TestClaims:
    def add(self, add: ADD, source: str, distribution: str = "odd-party") -> None:
        module = distribution.replace("-", "_")
        add(distribution, CLAIM + source, {"certdp.claims": {distribution: f"{module}:CLAIMS"}})

    def test_good_ones_are_found(self, add: ADD) -> None:
        self.add(add, "CLAIMS = (claim('odd/one'), claim('odd/two'))")
        claims, problems = Registry().claims()
        identifiers = [claim.id for claim in claims]
        assert problems == []
        assert {"odd/one", "odd/two"} < set(identifiers)
        assert identifiers == sorted(identifiers)

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            ("CLAIMS = [claim('odd/one')]", "odd_party:CLAIMS is no tuple of claims"),
            ("CLAIMS = (claim('odd/one'), 'odd/two')", "odd_party:CLAIMS is no tuple of claims"),
            ("CLAIMS = claim('odd/one')", "odd_party:CLAIMS is no tuple of claims"),
            ("CLAIMS = (claim('odd'),)", "its import fails with InvalidValue: id: got odd"),
            ("CLAIMS = (claim('odd/a'), claim('is/theorem-6'))", "claim is/theorem-6 is already registered"),
            ("CLAIMS = (claim('odd/a'), claim('odd/a'))", "claim odd/a is already registered"),
        ],
    )
    def test_others_are_reported(self, add: ADD, source: str, reason: str) -> None:
        without, _ = Registry().claims()
        self.add(add, source)
        claims, problems = Registry().claims()
        (problem,) = problems
        assert problem.listing.distribution == "odd-party"
        assert problem.problem is not None
        assert reason in problem.problem
        assert [claim.id for claim in claims] == [claim.id for claim in without]  # all of its claims, or none

    def test_a_built_in_claim_keeps_its_id(self, add: ADD) -> None:
        (identifier, *_), _ = ([claim.id for claim in Registry().claims()[0]], None)
        add("odd-aaa", CLAIM + f"CLAIMS = (claim({identifier!r}),)", {"certdp.claims": {"aaa": "odd_aaa:CLAIMS"}})
        claims, (problem,) = Registry().claims()
        assert problem.listing.distribution == "odd-aaa"
        (kept,) = [claim for claim in claims if claim.id == identifier]
        assert kept.statement != "S"

    def test_the_second_of_two_third_parties_is_reported(self, add: ADD) -> None:
        self.add(add, "CLAIMS = (claim('odd/one'),)")
        self.add(add, "CLAIMS = (claim('odd/two'), claim('odd/one'))", "odd-second")
        claims, (problem,) = Registry().claims()
        assert problem.listing.distribution == "odd-second"
        assert [claim.id for claim in claims if claim.id.startswith("odd/")] == ["odd/one"]
        assert problem.problem == "claim odd/one is already registered by distribution odd-party; rename it"

    def test_a_claim_that_contradicts_another_is_named(self, add: ADD) -> None:
        self.add(add, "CLAIMS = (claim('odd/one'),)")
        rejected = "from certdp.plugins.contract import Expectation\nfrom attrs import evolve\n"
        self.add(add, f"{rejected}CLAIMS = (evolve(claim('odd/one'), expectation=Expectation.REJECTED),)", "odd-second")
        _, (problem,) = Registry().claims()
        assert (problem.listing.distribution, problem.blocked) == ("odd-second", False)
        for words in ("claim odd/one contradicts", "odd-party", "here is that it is rejected, there that it holds"):
            assert words in str(problem.problem)

    def test_blocked_claims_are_left_out(self, add: ADD) -> None:
        self.add(add, "CLAIMS = (claim('odd/one'),)")
        claims, (problem,) = Registry(third_party=False).claims()
        assert "switched off" in str(problem.problem)
        assert problem.blocked
        assert "odd/one" not in [claim.id for claim in claims]


def test_where_a_plugin_comes_from() -> None:
    class Local:
        pass

    distribution, version = origin(object.__new__(Count))
    assert distribution == "certdp"
    assert version != "unregistered"
    assert origin(Local())[1] == "unregistered"
