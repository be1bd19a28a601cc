"""What plugin authors may rely on, as docs/public_api.txt records it.

To record it anew: python tests/test_compatibility.py
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, get_origin

import pytest

import certdp
from certdp.plugins.contract import CONTRACT_VERSION
from certdp.plugins.registry import Role

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs/public_api.txt"
POLICY = ROOT / "docs/compatibility.md"
GUIDE = ROOT / "docs/plugins.md"

FACE = "certdp"
FOR_AUTHORS = ("certdp.plugins.contract", "certdp.plugins.conformance")  # with the members of their classes
FOR_TRAINING = (
    "certdp.dpis",
    "certdp.dpis.models",
    "certdp.interoperation",
    "certdp.ledger",
    "certdp.queries",
)  # what their packages name again
PARTS = {  # modules that are not public as a whole
    "certdp.engines.dask": ("record_weights", "release_keys", "release_sum"),
    "certdp.engines.spark": ("record_weights", "release_keys", "release_sum"),
    "certdp.mechanisms.exponential": ("Exponential", "FiniteExponential", "Normaliser"),
    "certdp.mechanisms.lattice": ("granularity", "lattice_sum", "on_lattice"),
    "certdp.mechanisms.lp_sum": ("LpSum", "lp_noise"),
    "certdp.plugins.registry": ("PluginError", "Registry", "Role"),
    "certdp.verification.audit": ("Statistic", "audit", "repeated"),
}

HEADER = f"""\
The public names of certdp, contract version {CONTRACT_VERSION}: compatibility.md says what of them stays.
Written by `python tests/test_compatibility.py`; not edited by hand.
"""
WHAT_TO_DO = """
docs/public_api.txt no longer says what certdp offers.
Where something new is there: note it in CHANGELOG.md and record it.
Where something went or changed: does it break who relies on it? Then keep the old form beside the new one, warning of
its end, for one minor version (docs/compatibility.md). What changes in the contract itself raises CONTRACT_VERSION.
To record: python tests/test_compatibility.py
"""


def public() -> dict[str, tuple[str, ...]]:
    """The public names by module."""
    whole = {module: tuple(import_module(module).__all__) for module in (FACE, *FOR_AUTHORS)}
    modules = [name for name in whole[FACE] if inspect.ismodule(getattr(certdp, name))]
    whole[FACE] = tuple(name for name in whole[FACE] if name not in modules)
    whole |= {f"{FACE}.{module}": named_again(f"{FACE}.{module}") for module in modules}
    return whole | PARTS | {module: named_again(module) for module in FOR_TRAINING}


def named_again(package: str) -> tuple[str, ...]:
    names = vars(import_module(package)).items()
    return tuple(sorted(name for name, value in names if name[0] != "_" and not inspect.ismodule(value)))


def described(name: str, value: Any, *, members: bool) -> Iterator[str]:
    """One line for a name, and one for each public member of a class where they are wanted."""
    if get_origin(value) is not None:
        yield f"{name}: alias"
    elif not inspect.isclass(value):
        yield name + (signature(value) if inspect.isroutine(value) else kind_of(value))
    elif issubclass(value, Enum):
        yield f"{name}: enumeration"
        yield from (f"{name}.{member.name} = {member.value!r}" for member in value)
    else:
        yield name + ("" if getattr(value, "_is_protocol", False) else signature(value))
        if members:
            yield from (described_member(f"{name}.{member}", value, member) for member in sorted(members_of(value)))


def members_of(kind: type) -> set[str]:
    own = [base for base in kind.__mro__ if base.__module__.partition(".")[0] == "certdp"]
    return {name for base in own for name in (*vars(base), *vars(base).get("__annotations__", ())) if name[0] != "_"}


def described_member(name: str, kind: type, member: str) -> str:
    found = inspect.getattr_static(kind, member, None)
    match found:
        case property() | cached_property():
            return f"{name}: property"
        case classmethod() | staticmethod():
            return name + signature(getattr(kind, member))
    return name + (signature(found) if inspect.isfunction(found) else ": attribute")


class Words:
    """An annotation as it is written in the source."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(value: Any) -> str:
    """What it takes and returns, annotations as they are written, without addresses in memory."""

    def written(annotation: Any) -> Any:
        return Words(annotation) if isinstance(annotation, str) else annotation

    try:
        found = inspect.signature(value)
    except ValueError:  # of an exception that keeps the constructor of its base
        return "(...)"
    parameters = [item.replace(annotation=written(item.annotation)) for item in found.parameters.values()]
    shown = found.replace(parameters=parameters, return_annotation=written(found.return_annotation))
    text = re.sub(r"Optional\[ForwardRef\('(\w+)'[^)]*\)\]", r"\1 | None", str(shown))  # of a converter's annotation
    text = re.sub(r"ForwardRef\('(\w+)'[^)]*\)", r"\1", text)  # as Python 3.14 writes it
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def kind_of(value: Any) -> str:
    return f" = {value}" if isinstance(value, int) else f": {type(value).__name__}"


def offered() -> list[str]:
    """Every public name and what it takes, one line each."""
    return [
        line
        for module, names in public().items()
        for name in names
        for line in described(f"{module}.{name}", getattr(import_module(module), name), members=module in FOR_AUTHORS)
    ]


def recorded() -> list[str]:
    text = RECORD.read_text("utf-8")
    return text[text.index("\n\n") + 2 :].splitlines()


def changes(old: list[str], new: list[str]) -> str:
    """What went or came, with what to do about it; empty where nothing did."""
    gone, came = [line for line in old if line not in new], [line for line in new if line not in old]
    if not gone and not came:
        return ""
    return "\n".join([WHAT_TO_DO, *(f"- {line}" for line in gone), *(f"+ {line}" for line in came)])


def test_what_is_offered_is_what_is_recorded() -> None:
    told = changes(recorded(), offered())
    assert not told, told
    assert recorded() == offered()  # in that order
    assert RECORD.read_text("utf-8").startswith(HEADER)


def test_a_change_is_told_with_what_to_do() -> None:
    assert changes(["a(x)", "b"], ["b", "a(x)"]) == ""
    told = changes(["a(x)", "b"], ["a(x, y)", "b"])
    assert told.endswith("\n- a(x)\n+ a(x, y)")
    assert "raises CONTRACT_VERSION" in told
    assert "CHANGELOG.md" in told


class Sample:
    """Of each kind of thing one."""

    def __init__(self, size: int, *, name: str = "x") -> None:
        self.size = size

    @property
    def half(self) -> float:
        return self.size / 2

    @classmethod
    def of(cls, text: str) -> Sample:
        return cls(int(text))

    def _hidden(self) -> None: ...


def test_a_description_has_what_a_caller_writes() -> None:
    assert list(described("m.Sample", Sample, members=False)) == ["m.Sample(size: int, *, name: str = 'x') -> None"]
    assert list(described("m.f", changes, members=True)) == ["m.f(old: list[str], new: list[str]) -> str"]
    assert list(described("m.N", 3, members=True)) == ["m.N = 3"]
    assert list(described("m.Role", Role, members=False))[1] == "m.Role.MECHANISM = 'certdp.mechanisms'"
    released = [line for line in recorded() if "contract.Mechanism.release" in line]
    assert released == [
        "certdp.plugins.contract.Mechanism.release(self, sample: WeightedSample, coins: Coins) -> Release"
    ]


def test_the_record_has_nothing_of_one_run_alone() -> None:
    assert not [line for line in recorded() if "0x" in line or "/" in line.partition("(")[0]]


# What authors are shown keeps to it


def strangers(source: str, known: dict[str, tuple[str, ...]]) -> list[str]:
    """Names of certdp that a source uses and that are not public."""
    nodes = list(ast.walk(ast.parse(source)))
    modules, found = {FACE: FACE}, []  # what each public module is called here
    for node in nodes:
        for name, used in imported(node):
            if name in known:
                modules[used] = name
            elif name.rpartition(".")[2] not in known.get(name.rpartition(".")[0], ()):
                found.append(name)
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=used), attr=name) if used in modules:
                if name not in known[modules[used]] and f"{modules[used]}.{name}" not in known:
                    found.append(f"{modules[used]}.{name}")
    return found


def imported(node: ast.AST) -> list[tuple[str, str]]:
    """Each name of certdp that a node imports, and what it is called from then on."""
    match node:
        case ast.Import():
            names = [(alias.name, alias.asname or alias.name) for alias in node.names]
        case ast.ImportFrom(module=str(module)):
            names = [(f"{module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
        case _:
            return []
    return [(name, used) for name, used in names if name.partition(".")[0] == FACE]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from certdp.accounting.norms import Norm", ["certdp.accounting.norms.Norm"]),
        ("from certdp.plugins.contract import about", ["certdp.plugins.contract.about"]),
        ("from certdp.mechanisms.lp_sum import Exponential", ["certdp.mechanisms.lp_sum.Exponential"]),
        ("import certdp.plugins.probe as r", ["certdp.plugins.probe"]),
        ("from certdp.plugins import contract as c\nc.W, c.about", ["certdp.plugins.contract.about"]),
        (
            "from certdp.plugins import conformance\nconformance.check, conformance.law",
            ["certdp.plugins.conformance.law"],
        ),
        ("import certdp\ncertdp.runs.sampled.declared_loss", ["certdp.runs"]),
        (
            "from certdp import Full\nfrom certdp.plugins.contract import W as V\nimport certdp; certdp.check",
            [],
        ),
    ],
)
def test_the_scan(source: str, found: list[str]) -> None:
    assert strangers(source, public()) == found


def authors_examples() -> dict[str, str]:
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    sources = {f"block {number} of {GUIDE.name}": text for number, text in enumerate(blocks, 1)}
    for path in (ROOT / "examples").rglob("*/*.py"):
        sources[path.relative_to(ROOT).as_posix()] = path.read_text("utf-8")
    for path in (ROOT / "plugins/scaffold/templates").rglob("*.py.template"):
        text = path.read_text("utf-8").replace("$klass", "MySum").replace("$package", "my_sum")
        sources[path.relative_to(ROOT).as_posix()] = text.replace("$contract", "1")
    return sources


@pytest.mark.parametrize("shown", authors_examples())
def test_what_authors_are_shown_uses_public_names_alone(shown: str) -> None:
    assert strangers(authors_examples()[shown], public()) == []


def test_authors_are_shown_enough() -> None:
    assert len(authors_examples()) >= 20


# The policy speaks of what there is


@pytest.mark.parametrize("module", public())
def test_the_policy_names_every_public_module(module: str) -> None:
    assert f"`{module}`" in POLICY.read_text("utf-8")


def test_the_policy_names_the_contract_and_the_groups() -> None:
    policy = POLICY.read_text("utf-8")
    assert f"is version **{CONTRACT_VERSION}**" in policy
    assert all(f"`{role.value}`" in policy for role in Role)
    assert f"contract version {CONTRACT_VERSION}:" in RECORD.read_text("utf-8")


if __name__ == "__main__":
    RECORD.write_text(f"{HEADER}\n" + "".join(f"{line}\n" for line in offered()), "utf-8", newline="\n")
    sys.exit(0)
