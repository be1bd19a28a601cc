"""What is published of a trained model: bounds rounded up, and a digest of the file as anyone computes it."""

from __future__ import annotations

import hashlib
import io
from fractions import Fraction

import numpy as np

from certdp.accounting.derivation import Assumption, Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Approximate
from certdp.accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from certdp.dpis.model_statements import ModelStatement, as_npz
from certdp.durable.files import digest_of


def guarantee(epsilon: Fraction, delta: Fraction) -> Guarantee[Approximate, AddRemove, Record]:
    return Guarantee(
        bound=Approximate(Enclosure.of(epsilon), Enclosure.of(delta)),
        relation=ADD_REMOVE,
        unit=RECORD,
        derivation=Theorem("law", "test").conclude(assumptions=[Assumption("clip", "1")]),
    )


def statement(stated: Guarantee[Approximate, AddRemove, Record] | None) -> ModelStatement:
    return ModelStatement(
        method="dpis",
        plan={"batch": "20"},
        epochs=(),
        grids=(Fraction(1, 2**20),),
        guarantee=stated,
        coins="seeded" if stated is None else "operating system",
        digest="sha256:0",
    )


def test_bounds_are_stated_rounded_up() -> None:
    for k in range(1, 20):
        epsilon, delta = Fraction(k, 7), Fraction(k, 700_001)
        stated = statement(guarantee(epsilon, delta)).as_json["guarantee"]
        assert epsilon <= Fraction(stated["epsilon"]) <= epsilon * (1 + Fraction(1, 2**52))
        assert delta <= Fraction(stated["delta"]) <= delta * (1 + Fraction(1, 2**52))
        assert (stated["unit"], stated["relation"]) == ("record", "add-remove")
        assert stated["assumptions"] == [{"name": "clip", "value": "1"}]


def test_a_seeded_run_states_no_guarantee() -> None:
    told = statement(None).as_json
    assert told["guarantee"] is None
    assert (told["coins"], told["grids"], told["plan"]) == ("seeded", ["1/1048576"], {"batch": "20"})


def test_a_file_has_the_arrays_and_its_own_digest() -> None:
    arrays = {"weight": np.arange(6.0).reshape(2, 3), "bias": np.zeros(2)}
    content = as_npz(arrays)
    assert content == as_npz(arrays)
    read = np.load(io.BytesIO(content), allow_pickle=False)
    assert {name: read[name].tolist() for name in read.files} == {n: a.tolist() for n, a in arrays.items()}
    assert digest_of(content) == "sha256:" + hashlib.sha256(content).hexdigest()
