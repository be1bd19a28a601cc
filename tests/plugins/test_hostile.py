"""Distributions that misbehave, really installed: each is named with its reason, and nobody else is harmed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from certdp.plugins.registry import PluginError, Registry, Role

pytestmark = pytest.mark.xdist_group("hostile")  # one worker waits for what hangs

RIGHT = """
from typing import Any, ClassVar
import attrs
from certdp.plugins.contract import (
    CONTRACT_VERSION, About, Coins, Evidence, PureLoss, Real, W, WeightedSample, named, norm, positive,
)


@attrs.frozen(kw_only=True, field_transformer=named)
class Plugin:
    about: ClassVar[Any] = About(
        name="{name}", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="Nobody 2026"
    )
    scale: Real = attrs.field(converter=positive)

    @property
    def loss(self):
        return PureLoss(W * norm(1) / self.scale.value)

    def release(self, sample, coins):
        return sample.weighted_sum() + coins.laplace(self.scale.value, sample.records.shape[1])

"""
METACLASS = """
class Meta(type):
    def __getattribute__(cls, name):
        if name in ("about", "__attrs_attrs__"):
            raise {error}
        return super().__getattribute__(name)


class Plugin(metaclass=Meta):
    pass
"""
UNSPEAKABLE = """
class Unspeakable(BaseException):
    def __str__(self):
        raise KeyboardInterrupt

raise Unspeakable
"""
RIVAL = "its name clashes with the one of"

HOSTILE: dict[str, tuple[str, str]] = {
    "hangs": ("while True: pass", "its import takes longer than 0.5 s"),
    "hangs-in-c": (
        "import threading; lock = threading.Lock(); lock.acquire(); "
        "import ctypes; ctypes.PyDLL(None).sleep(60)  # which does not let other threads run",
        "its import takes longer than 0.5 s",
    ),
    "raises": ("raise RuntimeError('no luck')", "its import fails with RuntimeError: no luck"),
    "leaves": ("raise SystemExit(0)", "its import fails with SystemExit: 0"),
    "interrupts": ("raise KeyboardInterrupt", "its import fails with KeyboardInterrupt"),
    "unspeakable": (UNSPEAKABLE, "its import fails with Unspeakable: a text that raises KeyboardInterrupt"),
    "ends": ("import os; os._exit(0)", "its import ends the process with exit code 0"),
    "kills": (
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "its import ends the process with exit code -9",
    ),
    "newer": (RIGHT.replace("contract=CONTRACT_VERSION", "contract=CONTRACT_VERSION + 1"), "contract version"),
    "mute": (METACLASS.format(error="AttributeError(name)"), "is no frozen attrs class"),
    "rude": (METACLASS.format(error="SystemExit(0)"), "its validation fails with SystemExit: 0"),
    "typed": (RIGHT.replace('version="1"', "version=1"), "its import fails with InvalidType: version"),
    "typeless": ("Plugin = ['a', 'list']", "is no class but"),
    "escaping": ("raise ValueError('\\x1b[2Jgone\\n')", "its import fails with ValueError: \\x1b[2Jgone\\n"),
    "Shouting": (RIGHT, "its name is not made of lower-case words"),
    "red\x1b[31m": (RIGHT, "its name is not made of lower-case words"),
    "laplace-sum": (RIGHT, f"{RIVAL} certdp"),
    "twice": (RIGHT, RIVAL),
}


def module_of(distribution: str) -> str:
    return distribution.replace("-", "_")


def install(site: Path, distribution: str, name: str, source: str) -> None:
    """What an installer leaves in site-packages."""
    module = module_of(distribution)
    (site / f"{module}.py").write_text(source.replace("{name}", name), encoding="utf-8")
    info = site / f"{module}-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.5\n", encoding="utf-8")
    entry = f"[certdp.mechanisms]\n{name} = {module}:Plugin\n"
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")


def certdp(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "certdp", *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(site), "PYTHONIOENCODING": "utf-8"},
        cwd=site,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them at once, one that prints and one that is right."""
    folder = tmp_path_factory.mktemp("site")
    for number, (name, (source, _)) in enumerate(HOSTILE.items()):
        install(folder, f"odd-{number}", name, source)
    install(folder, "odd-again", "twice", RIGHT)
    install(folder, "chatty", "chatty", "print('hello from here'); import os; os.write(1, b'and here')\n" + RIGHT)
    install(folder, "honest", "honest", RIGHT)
    return folder


@pytest.fixture(scope="module")
def registered(site: Path) -> Mapping[str, Any]:
    """What registries say of each distribution: one has little patience, and looks at those alone that hang."""
    program = """
import json
from importlib.metadata import entry_points
from certdp.plugins.registry import Registry, Role

def those(hang):
    return lambda role: [e for e in entry_points(group=role.value) if e.name.startswith("hangs") is hang]

both = Registry(seconds=0.5, source=those(True)), Registry(seconds=600.0, source=those(False))
found = [status for registry in both for status in registry.statuses() if status.listing.role is Role.MECHANISM]
print(json.dumps([(status.listing.distribution, status.problem, status.remark) for status in found]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=site,
        check=True,
    )
    return {distribution: (problem, remark) for distribution, problem, remark in json.loads(ran.stdout)}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_each_is_named_with_its_reason(registered: Mapping[str, Any], name: str) -> None:
    number = list(HOSTILE).index(name)
    problem, _ = registered[f"odd-{number}"]
    assert HOSTILE[name][1] in problem
    assert problem.isprintable()


def test_nobody_else_is_harmed(registered: Mapping[str, Any]) -> None:
    assert registered["certdp"] == (None, None)
    assert registered["honest"] == (None, None)


def test_both_of_two_of_one_name_are_named(registered: Mapping[str, Any]) -> None:
    assert "odd-again" in registered[f"odd-{list(HOSTILE).index('twice')}"][0]
    assert RIVAL in registered["odd-again"][0]


def test_one_that_prints_is_valid_and_named(registered: Mapping[str, Any]) -> None:
    problem, remark = registered["chatty"]
    assert problem is None
    assert remark.startswith("it prints when it is imported: ")
    assert "hello from here" in remark


@pytest.mark.slow
def test_other_commands_do_not_notice(site: Path) -> None:
    ran = certdp(
        *(site, "epsilon", "--mechanism", "laplace-sum", "--sampler", "full", "--option", "scale=1"),
        *("--option", "radius=1", "--json"),
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["epsilon"][1] == pytest.approx(1, abs=1e-9)


@pytest.mark.slow
def test_what_a_plugin_prints_is_no_part_of_the_output(site: Path) -> None:
    ran = certdp(
        *(site, "epsilon", "--mechanism", "chatty", "--sampler", "full", "--option", "scale=1"),
        *("--option", "radius=1", "--json", "--allow", "chatty"),
    )
    assert ran.returncode == 0
    assert "hello from here" in ran.stderr
    assert "and here" in ran.stderr
    assert json.loads(ran.stdout)["epsilon"][1] == pytest.approx(1, abs=1e-9)


@pytest.mark.slow
def test_one_that_ends_the_process_cannot_feign_success(site: Path) -> None:
    number = list(HOSTILE).index("ends")
    ran = certdp(
        *(site, "epsilon", "--mechanism", "ends", "--sampler", "full", "--option", "scale=1"),
        *("--option", "radius=1", "--json", "--allow", f"odd-{number}"),
    )
    assert ran.returncode == 2
    assert "its import ends the process with exit code 0" in json.loads(ran.stdout)["error"]["remedy"]


@pytest.mark.slow
def test_a_hidden_text_does_nothing_to_the_terminal(site: Path) -> None:
    ran = certdp(site, "plugins", "--list-only")
    assert ran.returncode == 0
    assert "\x1b" not in ran.stdout
    assert "red\\x1b[31m" in ran.stdout


def test_nothing_of_it_stays(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that cannot be used is not even imported by the process that asks for it."""
    monkeypatch.syspath_prepend(str(site))
    number = list(HOSTILE).index("raises")
    with pytest.raises(PluginError, match="no luck"):
        Registry(allow=[f"odd-{number}"]).get(Role.MECHANISM, "raises")
    assert f"odd_{number}" not in sys.modules
