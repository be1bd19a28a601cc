"""dp_accounting's event trees, in and out: its objects, and the same trees as JSON.

JSON: `{"type": "PoissonSampledDpEvent", "sampling_probability": 0.01, "event": {"type": "GaussianDpEvent",
"noise_multiplier": 1}}`. The fields are those of dp_accounting's classes. A JSON number is the binary64 number that
dp_accounting would hold; text, such as "0.01" or "1/3", is exact. A tree is data: no name in it is imported or called.
Whatever is unknown is refused, also a field: a later version of dp_accounting may mean more by it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

from attrs import NOTHING, Attribute, fields

from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Change
from .described_events import EVENTS
from .event_fields import Content
from .events import Event

DEEPEST = 64
MOST_EVENTS = 100_000
LONGEST_JSON = 16 * 2**20

Opened: TypeAlias = tuple[str, Mapping[str, object]]
"""The name of an event's class, and its fields by name."""

_NAMES = "module_name", "class_name"  # of a named tuple, beside its fields
_KNOWN = {event.name: event for event in EVENTS}
_RELATIONS: dict[str, Change] = {
    "ADD_OR_REMOVE_ONE": ADD_REMOVE,
    "REPLACE_ONE": REPLACE,
    "REPLACE_SPECIAL": ZERO_OUT,
}
_NOT_COVERED = {
    "SampledWithReplacementDpEvent": (
        "not covered: the pair of a batch drawn with replacement is missing; it will come beside those of batches "
        "without, in certdp.accounting.sampling.batches"
    ),
    "UnsupportedDpEvent": "not described: it stands for what nobody has described yet, and no accountant may take it",
}
"""Why an event of dp_accounting is refused: what is missing, and where it will come from."""


def read_event(event: object) -> Event:
    """The tree of a dp_accounting event, known by the names of its class and attributes.

    Args:
        event: such as `dp_accounting.GaussianDpEvent(1.0)`, or what its `to_named_tuple` gives; floats are read as the
            dyadic rationals they are.

    Raises:
        InvalidValue: for an event that is not covered, fields that are unknown, missing or out of range, more than
            64 levels and more than 100,000 events. InvalidType: for anything that is no event.
    """
    return _Reader(_open_object).event("event", event)


def event_from_json(text: str | bytes) -> Event:
    """The tree that JSON describes: objects as above, or what dp_accounting's `to_named_tuple` gives.

    A named tuple is an object with `module_name` and `class_name`, or as `json.dumps` writes one: a list of both and of
    the fields in order.

    Raises:
        InvalidValue: for text that is longer than 16 MiB, not JSON, or has duplicate, unknown or missing keys; for an
            event that is not covered, a parameter out of range, more than 64 levels and more than 100,000 events.
            InvalidType: for values of another type.
    """
    return event_of_tree(tree_of_json(text))


def tree_of_json(text: str | bytes) -> object:
    """What JSON holds, each key of an object once and each number finite; errors as `event_from_json` raises them."""
    if len(text) > LONGEST_JSON:
        raise InvalidValue("event", f"{len(text)} characters", f"at most {LONGEST_JSON}")
    try:
        return json.loads(
            text, object_pairs_hook=without_duplicates, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError:
        raise InvalidValue("event", "nested too deeply", f"at most {DEEPEST} levels") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidValue("event", str(error), "JSON of an event") from None
    except InvalidValue:
        raise
    except ValueError as error:  # an integer of too many digits
        raise InvalidValue("event", str(error), "JSON of an event") from None


def event_of_tree(tree: object) -> Event:
    """The event that objects, lists and numbers of JSON describe; errors as `event_from_json` raises them."""
    return _Reader(_open_json).event("event", tree)


def event_to_json(event: Event) -> str:
    """JSON that reads as the same event, number for number."""
    return json.dumps(_as_json(event), allow_nan=False)


def write_event(event: Event, dp_accounting: Any) -> Any:
    """The tree as dp_accounting's objects.

    Args:
        event: the tree.
        dp_accounting: that package, as its user imported it.

    Returns:
        Its event. Numbers that binary64 does not hold are rounded so that the event loses at least as much.

    Raises:
        InvalidValue: for a version of dp_accounting without an event of the tree.
    """
    kind = getattr(getattr(dp_accounting, "dp_event", dp_accounting), event.name, None)  # the package shows some only
    if kind is None:
        raise InvalidValue("event", event.name, "an event that this version of dp_accounting has")

    def child(inner: Event) -> Any:
        return write_event(inner, dp_accounting)

    return kind(**{f.name: _content(f).as_foreign(getattr(event, f.name), child) for f in fields(type(event))})


def relation_named(relation: object) -> Change:
    """The neighbouring relation that a member of dp_accounting's `NeighboringRelation` stands for.

    A record that is replaced by a special one, which adds nothing to a sum, is zeroed out.

    Raises:
        InvalidValue: for others.
    """
    name = getattr(relation, "name", relation)
    if not isinstance(name, str) or name not in _RELATIONS:
        raise InvalidValue("relation", name, " or ".join(_RELATIONS))
    return _RELATIONS[name]


class _Reader:
    """Reads one tree, and counts its events."""

    def __init__(self, opened: Callable[[str, object], Opened]) -> None:
        self.opened = opened
        self.seen = 0
        self.depth = 0

    def event(self, place: str, node: object) -> Event:
        self.seen += 1
        if self.seen > MOST_EVENTS:
            raise InvalidValue("event", "a larger tree", f"at most {MOST_EVENTS} events", "Use SelfComposedDpEvent")
        if self.depth == DEEPEST:
            raise InvalidValue("event", "a deeper tree", f"at most {DEEPEST} levels")
        name, given = self.opened(place, node)
        if name not in _KNOWN:
            raise InvalidValue(place, name, f"one of {', '.join(_KNOWN)}", _NOT_COVERED.get(name, ""))
        wanted = {f.name: f for f in fields(_KNOWN[name])}
        for key in given:
            if key not in wanted:
                raise InvalidValue(f"{place}.{key}", given[key], f"fields of {name}: {', '.join(wanted) or 'none'}")
        self.depth += 1
        values = {}
        for key, f in wanted.items():
            if key in given:
                values[key] = _content(f).read(f"{place}.{key}", given[key], self.event)
            elif f.default is NOTHING:
                raise InvalidValue(f"{place}.{key}", "nothing", f"a field that {name} has")
        self.depth -= 1
        try:
            return _KNOWN[name](**values)
        except InvalidValue as error:
            raise type(error)(f"{place}.{error.parameter}", error.value, error.admissible, error.remedy) from None


def _content(f: Attribute[Any]) -> Content:
    content: Content = f.metadata["content"]
    return content


def _open_json(place: str, node: object) -> Opened:
    match node:
        case dict() if isinstance(node.get("type"), str):
            return node["type"], {key: value for key, value in node.items() if key != "type"}
        case dict() if isinstance(name := node.get("class_name"), str) and isinstance(node.get("module_name"), str):
            return name, {str(key): value for key, value in node.items() if key not in _NAMES}
        case [str(), str(name), *values] if name in _KNOWN:
            names = [f.name for f in fields(_KNOWN[name])]
            if len(values) > len(names):
                raise InvalidValue(place, f"{len(values)} fields", f"those of {name}: {', '.join(names) or 'none'}")
            return name, dict(zip(names, values, strict=False))
        case [str(), str(name), *_]:
            return name, {}
        case dict():
            raise InvalidValue(f"{place}.type", node.get("type"), "the name of an event's class")
    raise InvalidType(place, node, "an object with a type")


def _open_object(place: str, node: object) -> Opened:
    kind = type(node)
    match node:
        case tuple() if set(_NAMES) <= set(names := getattr(kind, "_fields", ())):
            return str(getattr(node, _NAMES[1])), {name: getattr(node, name) for name in names if name not in _NAMES}
    declared = getattr(kind, "__attrs_attrs__", None)
    if declared is None:
        raise InvalidType(place, node, "an event of dp_accounting")
    return kind.__name__, {f.name: getattr(node, f.name) for f in declared}


def without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object of JSON with these members.

    Raises:
        InvalidValue: for a key that occurs twice.
    """
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidValue("event", key, "each key once")
        found[key] = value
    return found


def _finite(text: str) -> float:
    """A number of JSON; one that no binary64 number is near is refused, not taken for infinity."""
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text)


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidValue("event", name, "finite numbers")


def _as_json(event: Event) -> dict[str, Any]:
    written = {f.name: _content(f).as_json(getattr(event, f.name), _as_json) for f in fields(type(event))}
    return {"type": event.name, **written}
