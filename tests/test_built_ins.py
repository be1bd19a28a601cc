"""Every built-in mechanism and sampler is at each place where one belongs; a failure names the place and what to add.

CONTRIBUTING.md has the same places as a checklist. What follows from the entry point alone is not among them:
discovery, the commands, the conformance kit and the options of the checker are tried for whatever is registered.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import attrs
import pytest
from attrs import field, frozen

from certdp.plugins.contract import ELEMENT, options
from certdp.plugins.registry import Registry, Role
from certdp.verification.checker import declared as formulas
from certdp.verification.checker import options as admissible
from certdp.verification.checker import released
from certdp.verification.mutation.declared import DECLARED

ROOT = Path(__file__).parents[1]
HOMES = {Role.MECHANISM: "mechanisms", Role.SAMPLER: "samplers"}


@frozen
class BuiltIn:
    """A mechanism or sampler that certdp registers.

    Attributes:
        role: which of the two.
        name: under which it registers.
        plugin: its class.
        keyed: whether its data are keys.
        batches: whether it puts records in batches of an epoch.
        strata: whether it draws public strata at rates of their own.
    """

    role: Role
    name: str
    plugin: type
    keyed: bool
    batches: bool = False
    strata: bool = False

    @property
    def kind(self) -> str:
        """What it is called."""
        if self.role is Role.MECHANISM:
            return "sanitiser" if self.keyed else "mechanism"
        if self.batches or self.strata:
            return "sampler of batches" if self.batches else "sampler of strata"
        return "key sampler" if self.keyed else "sampler"

    @property
    def options(self) -> set[str]:
        """The names of its options."""
        return {option.name for option in options(self.plugin)}

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@frozen
class Place:
    """A place where a built-in belongs.

    Attributes:
        file: where that is.
        add: what to add there.
        kinds: of which built-ins.
        has: whether it has one.
        without: the built-ins that need not be there, with the reason.
    """

    file: str
    add: str
    kinds: tuple[str, ...]
    has: Callable[[BuiltIn], bool]
    without: Mapping[str, str] = field(factory=dict)


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


@cache
def names_in(file: str) -> frozenset[str]:
    """The names that a module of tests uses."""
    return frozenset(node.id for node in ast.walk(ast.parse(text_of(file))) if isinstance(node, ast.Name))


def used_in(*files: str) -> Callable[[BuiltIn], bool]:
    return lambda item: any(item.plugin.__name__ in names_in(file) for file in files)


def row(item: BuiltIn) -> str:
    """Its row in the tables of the guide: the first cell has its name."""
    found = re.findall(rf"^\|[^|\n]*`{item.name}`[^|\n]*\|.*$", text_of("docs/plugins.md"), re.MULTILINE)
    return next(iter(found), "")


def is_in_the_guide(item: BuiltIn) -> bool:
    return bool(row(item)) and item.options <= set(re.findall(r"`(\w+)`", row(item)))


def is_public(item: BuiltIn) -> bool:
    line = rf"^certdp(\.\w+)*\.{item.plugin.__name__}\("
    return re.search(line, text_of("docs/public_api.txt"), re.MULTILINE) is not None


def has_an_entry(item: BuiltIn) -> bool:
    pages = [page.read_text("utf-8") for page in (ROOT / "docs/reference").glob("*.md")]
    return any(re.search(rf"^::: certdp(\.\w+)*\.{item.plugin.__name__}$", page, re.MULTILINE) for page in pages)


def has_its_options_in_the_checker(item: BuiltIn) -> bool:
    table = admissible.PLUGINS[item.role.word]
    return item.name in table and set(table[item.name].values) == item.options


def has_its_formula_in_the_checker(item: BuiltIn) -> bool:
    others = (*formulas.SANITISERS, *formulas.KEY_SAMPLERS, formulas.CONSTRAINED, *formulas.ANSWERS, *formulas.STRATA)
    return item.name in {**formulas.MECHANISMS, **formulas.SAMPLERS, **formulas.BATCHES, **dict.fromkeys(others)}


def is_mutated(item: BuiltIn) -> bool:
    return any(type(formula.example) is item.plugin and formula.claims for formula in DECLARED)


RECORDS, KEYS = ("mechanism", "sampler"), ("sanitiser", "key sampler")
OTHERS = ("sampler of batches", "sampler of strata")  # no formula of a record
_MADE = "certdp.dpis makes it; users name it in options alone"
OF_TRAINING: Mapping[str, str] = {"dpis": _MADE, "dpis-step": _MADE}
OF_BATCHES = "its scheme has no expression; the claims batches/* guard it"
AUDITS = "tests/test_audits.py"
FORGERIES = "tests/verification/checker/test_forgeries.py"
OWN = {
    role: sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / home).glob("*.py"))
    for role, home in HOMES.items()
}

PLACES = (
    Place(
        "src/certdp/__init__.pyi",
        "the import of {class} and its name in __all__; then run python tests/test_compatibility.py",
        (*RECORDS, *KEYS, *OTHERS),
        is_public,
        OF_TRAINING,
    ),
    Place(
        "docs/reference",
        "the line `::: certdp.{class}` to {home}.md",
        (*RECORDS, *KEYS, *OTHERS),
        has_an_entry,
        OF_TRAINING,
    ),
    Place(
        "docs/plugins.md",
        "a row for `{name}` with each of its options in backticks, and its loss or rate",
        (*RECORDS, *KEYS, *OTHERS),
        is_in_the_guide,
    ),
    Place(
        "CHANGELOG.md",
        "`{name}` under [Unreleased], Added, in users' words",
        (*RECORDS, *KEYS, *OTHERS),
        lambda item: f"`{item.name}`" in text_of("CHANGELOG.md"),
    ),
    Place(
        "verification/checker/options.py",
        "'{name}' in {table}: what each option may be, written out anew",
        (*RECORDS, *KEYS),
        has_its_options_in_the_checker,
    ),
    Place(
        "verification/checker/declared.py",
        "'{name}' with its loss or rate from the options, written out anew from what proves it",
        (*RECORDS, *KEYS),
        has_its_formula_in_the_checker,
    ),
    Place(
        "verification/checker/released.py",
        "'{name}' in _OF_MECHANISMS: which end of an option's range costs most",
        ("mechanism",),
        lambda item: item.name in released._OF_MECHANISMS,
    ),
    Place(
        "verification/mutation/declared.py",
        "a DeclaredFormula with an example of {class} and the ids of the claims that guard its formula",
        RECORDS,
        is_mutated,
        {
            "full": "its rate is the constant 1",
            "privacy-constrained": "its rate is solved for a target; the claims constrained/* guard it",
            "fixed-batches": OF_BATCHES,
            "shuffled": OF_BATCHES,
            "truncated-poisson": OF_BATCHES,
        },
    ),
    Place(
        "tests/mechanisms or tests/samplers",
        "a module {home}/test_….py with tests of {class}: loss or rate at known values, refusals, the law of its draws",
        (*RECORDS, *KEYS, *OTHERS),
        lambda item: used_in(*OWN[item.role])(item),
    ),
    Place(
        "tests/mechanisms/test_many_releases.py",
        "an instance of {class} among those whose many releases have the law of single ones",
        ("mechanism",),
        used_in("tests/mechanisms/test_many_releases.py"),
    ),
    Place(
        AUDITS,
        "a run of {class}, its δ and the share of the proven ε that an audit finds",
        ("mechanism", "sanitiser", "sampler"),
        used_in(AUDITS),
        {
            "coreset": "weights as importance does, at another rate",
            **dict.fromkeys(
                (*formulas.ANSWERS, *formulas.BATCHES),
                "audits are of data sets of few records, of which no batch is drawn",
            ),
        },
    ),
    Place(
        FORGERIES,
        "a certificate that names {class} in CORPUS, so that every alteration of it is tried",
        (*RECORDS, *KEYS),
        used_in(FORGERIES),
    ),
)


def kinds_of(plugin: type) -> tuple[bool, bool]:
    return hasattr(plugin, "epoch"), hasattr(plugin, "strata")


@cache
def built_ins() -> tuple[BuiltIn, ...]:
    registry = Registry(third_party=False)
    listings = [listing for listing in registry.listings(*HOMES) if listing.built_in]
    plugins = [(listing, registry.get(listing.role, listing.name)) for listing in listings]
    return tuple(
        BuiltIn(item.role, item.name, plugin, plugin.about.unit == ELEMENT, *kinds_of(plugin))
        for item, plugin in plugins
    )


def missing(item: BuiltIn) -> Iterator[str]:
    """Each place that lacks a built-in, with what to add."""
    home = HOMES[item.role]
    words = {"name": item.name, "class": item.plugin.__name__, "home": home, "table": home.upper()}
    for place in PLACES:
        if item.kind in place.kinds and item.name not in place.without and not place.has(item):
            yield f"{place.file}: add {place.add.format_map(words)}"


@pytest.mark.parametrize("item", built_ins(), ids=str)
def test_a_built_in_is_at_every_place(item: BuiltIn) -> None:
    lacking = list(missing(item))
    assert not lacking, f"{item} is missing in\n- " + "\n- ".join(lacking)


@pytest.mark.parametrize("role", HOMES, ids=lambda role: role.word)
def test_what_calls_itself_a_plugin_is_registered(role: Role) -> None:
    """Each class with an `about` of its own in the folder is an entry point in pyproject.toml."""
    registered = {item.plugin for item in built_ins() if item.role is role}
    found = set()
    for path in (ROOT / HOMES[role]).glob("[!_]*.py"):
        module = import_module(f"certdp.{HOMES[role]}.{path.stem}")
        found |= {value for value in vars(module).values() if isinstance(value, type) and "about" in vars(value)}
    unknown = {kind.__name__ for kind in found - registered} - {"Coins"}
    assert not unknown, f"pyproject.toml: add an entry point in {role.value} for each of {unknown}, and reinstall"
    assert registered <= found


def test_no_exemption_is_left_over() -> None:
    names = {item.name: item for item in built_ins()}
    for place in PLACES:
        for name in place.without:
            assert not place.has(names[name]), f"{place.file} has {name}: it needs no exemption"


def test_a_new_built_in_is_told_every_place() -> None:
    class ToySum:
        """In no file."""

    toy = BuiltIn(Role.MECHANISM, "toy-sum", attrs.frozen(ToySum), keyed=False)
    told = list(missing(toy))
    assert len(told) == sum("mechanism" in place.kinds for place in PLACES)
    assert all("{" not in text and ("toy-sum" in text or "ToySum" in text) for text in told)


def test_the_checklist_names_every_place() -> None:
    checklist = text_of("CONTRIBUTING.md")
    for place in PLACES:
        for file in re.findall(r"[\w/]+\.(?:py|pyi|md)", place.file):
            assert file.rpartition("/")[2] in checklist, place.file
