"""Forgeries begin at true certificates, and these leave out nothing that a certificate can say."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from certdp.verification import checker
from certdp.verification.checker import shapes
from certdp.verification.checker.approximate.claims import CLAIMS
from certdp.verification.checker.approximate.selection import PROOFS
from certdp.verification.checker.intervals import OPERATIONS
from certdp.verification.checker.options import PLUGINS
from tests.verification.checker.test_forgeries import CORPUS, SCHEMA, plugins, written

pytestmark = pytest.mark.xdist_group("corpus")  # one worker writes all certificates

Term = tuple[str, str]
"""A place of the schema, and what stands there: a key, a word, or which form a value has."""


@cache
def validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({**json.loads(schema), "$defs": SCHEMA["$defs"]})


def fits(schema: Any, value: Any) -> bool:
    return bool(validator(json.dumps(schema)).is_valid(value))


def words(schema: Any) -> list[Any]:
    return [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]


def inner(schema: Any, place: str) -> Iterator[tuple[Any, str]]:
    """The schemas that hold of the same value: all, or some of several forms."""
    for key in ("allOf", "oneOf", "anyOf"):
        for number, one in enumerate(schema.get(key, ())):
            yield one, f"{place}/{key}/{number}"
    if "then" in schema:
        yield schema["then"], f"{place}/then"


def parts(schema: Any, place: str) -> Iterator[tuple[Any, str, Any]]:
    """The schemas of what a value holds, each with the key or number that it has there; None for all others."""
    for key, one in schema.get("properties", {}).items():
        if one is False:
            continue  # there must be none
        yield one, f"{place}.{key}", key
    for number, one in enumerate(schema.get("prefixItems", ())):
        yield one, f"{place}[{number}]", number
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield schema[key], f"{place}[]", None


def vocabulary() -> set[Term]:
    """All that the schema has a word or a form for."""
    found: set[Term] = set()
    left, seen = [(SCHEMA, "")], set()
    while left:
        schema, place = left.pop()
        if isinstance(schema, bool) or place in seen:
            continue
        seen.add(place)
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            left.append((SCHEMA["$defs"][name], name))
            continue
        found |= {(place, json.dumps(word)) for word in words(schema)}
        found |= {(place, key) for key, one in schema.get("properties", {}).items() if one is not False}
        found |= (
            {(place, kind) for kind in schema["type"] if isinstance(schema["type"], list)}
            if "type" in schema
            else set()
        )
        for one, where in inner(schema, place):
            if where.rpartition("/")[0].endswith("Of"):
                found.add((where, "form"))
            left.append((one, where))
        left += [(one, where) for one, where, _ in parts(schema, place)]
    return found


KINDS: dict[str, type] = {"integer": int, "null": type(None), "string": str}


def occurrences(schema: Any, value: Any, place: str = "") -> Iterator[Term]:
    """What a value says of it, where it fits the schema."""
    if isinstance(schema, bool):
        return
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from occurrences(SCHEMA["$defs"][name], value, name)
        return
    yield from ((place, json.dumps(word)) for word in words(schema) if word == value)
    if isinstance(schema.get("type"), list):
        yield from ((place, kind) for kind in schema["type"] if isinstance(value, KINDS[kind]))
    for one, where in inner(schema, place):
        if fits(schema["if"] if where.endswith("/then") else one, value):
            if where.rpartition("/")[0].endswith("Of"):
                yield where, "form"
            yield from occurrences(one, value, where)
    for one, where, key in parts(schema, place):
        if isinstance(value, dict) and key in value:
            yield place, key
            yield from occurrences(one, value[key], where)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            yield from occurrences(one, value[key], where)
        elif key is None:
            known = (
                schema.get("properties", ()) if isinstance(value, dict) else range(len(schema.get("prefixItems", ())))
            )
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            for other, item in items:
                if other not in known:
                    yield from occurrences(one, item, where)


NOT_OURS = {
    ("part.loss/oneOf/1.relation", '"replace"'),
    ("part.loss/oneOf/2.relation", '"add-remove"'),
    ("part.loss/oneOf/3.relation", '"replace"'),
    ("part.loss/oneOf/4.relation", '"replace"'),
    (
        "keyedApproximate/allOf/0/oneOf/1.theorem",
        '"PWS Section 5, Lemma 5.2 and optimal composition (Kairouz, Oh, Viswanath 2015) and basic composition"',
    ),
}
"""Of noise on a lattice, and of bare divergences, certdp has no mechanism whose loss is about replaced records; of
answers over many categories none whose loss is about added and removed ones. Delays are those of all keys, for which no
constant is released that would cost anything beside."""


@pytest.fixture(scope="module")
def bodies() -> dict[str, Any]:
    return {name: json.loads(written(name)) for name in CORPUS}


@pytest.mark.slow
def test_all_that_a_certificate_can_say_is_said_by_one_that_forgeries_begin_at(bodies: dict[str, Any]) -> None:
    """Each key, each word, each operation and each form of a value, of every kind."""
    occurs = {one for body in bodies.values() for one in occurrences(SCHEMA, body)}
    assert sorted(vocabulary() - occurs - NOT_OURS) == []
    assert sorted(occurs - vocabulary()) == []


def test_a_word_without_a_certificate_is_missed(bodies: dict[str, Any]) -> None:
    left = [body for name, body in bodies.items() if name != "roots"]
    missing = vocabulary() - {one for body in left for one in occurrences(SCHEMA, body)}
    assert {("expression[0]", f'"{word}"') for word in ("exp", "log", "select", "sqrt")} <= missing
    assert ("plugin.evidence", '"cited"') in missing


def shapes_in(value: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """The keys and words in what the checker reads certificates by: `record`s and `one_of`s, and what they hold."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if inspect.isfunction(value) and value.__module__ == shapes.__name__:
        held = inspect.getclosurevars(value).nonlocals
        yield from (("key", key) for key in held.get("fields", ()))
        yield from (("word", word) for word in held.get("admissible", ()))
        for one in held.values():
            yield from shapes_in(one, seen)
    elif isinstance(value, dict):
        for one in value.values():
            yield from shapes_in(one, seen)


def test_the_schema_knows_all_that_the_checker_reads() -> None:
    """Conversely, the certificates above are accepted: the checker reads all that the schema knows."""
    known = vocabulary()
    keys, known_words = {what for _, what in known if not what.startswith('"')}, {what for _, what in known}
    seen: set[int] = set()
    for module in [module for name, module in sys.modules.items() if name.startswith(checker.__name__)]:
        for value in list(vars(module).values()):
            for sort, what in shapes_in(value, seen):
                if sort == "key":
                    assert what in keys, what
                else:
                    assert what == "heuristic" or json.dumps(what) in known_words, what  # which is refused
    assert len(seen) > 50
    assert {kind for place, kind in known if place == ".kind"} == {json.dumps(kind) for kind in checker.KINDS}
    methods = {
        json.loads(what) for place, what in known if re.fullmatch(r"composedApproximate/oneOf/\d\.method\.name", place)
    }
    assert methods == set(PROOFS)
    for_groups = {json.loads(what) for place, what in known if re.fullmatch(r"composed.*theorem", place)}
    laws = {law for claim in CLAIMS.values() if (law := getattr(claim, "law", None))}
    theorems = {method.theorem for method in PROOFS.values()} | laws
    assert for_groups == {theorem + ending for theorem in theorems for ending in ("", " and group privacy")}
    leaves = {"constant", "weight", "norm", "order", "rounding"}
    assert {json.loads(what) for place, what in known if place == "expression[0]"} == {*OPERATIONS, *leaves}


def test_every_option_is_stated_by_one_that_forgeries_begin_at(bodies: dict[str, Any]) -> None:
    stated = {
        (role, plugin["name"], option)
        for body in bodies.values()
        for _, role, plugin in plugins(body)
        for option in plugin["options"]
    }
    known = {
        (role, name, option)
        for role, table in PLUGINS.items()
        for name, plugin in table.items()
        for option in plugin.values
    }
    others = {one for one in stated if one[1] in {"roots", "any-mechanism"}}
    assert sorted(known - stated) == []
    assert sorted(stated - known - others) == []
