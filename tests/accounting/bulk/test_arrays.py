"""The NumPy face of the kernels: shapes, threads, refusals, and an import free of the compiler."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certdp
from certdp.accounting.bulk import arrays as bulk
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm

SOURCE = str(Path(certdp.__file__).parent.parent)


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": SOURCE, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_no_compiler() -> None:
    code = "import sys, certdp.accounting.bulk.arrays; print({'numba', 'llvmlite', 'scipy'} & set(sys.modules))"
    assert python(code).strip() == "set()"


@pytest.mark.slow
def test_works_where_nothing_can_be_cached() -> None:
    code = """
import numba.core.caching as caching
def refused(*arguments, **keywords):
    return None
for locator in caching.CacheImpl._locator_classes:
    locator.from_function = refused
from certdp.accounting.bulk import arrays as bulk
print(float(bulk.psi_remove(1.0, 1.0)))
"""
    assert python(code).strip() == "1.0"


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="sets x86 rounding modes")
@pytest.mark.parametrize("mode", [0x400, 0x800, 0xC00])  # down, up, towards zero
def test_directed_rounding_is_refused(mode: int) -> None:
    code = f"""
import ctypes
from certdp.accounting import errors
from certdp.accounting.bulk import arrays as bulk
bulk.psi_remove(1.0, 0.5)
ctypes.CDLL("libm.so.6").fesetround({mode})
try:
    bulk.psi_remove(1.0, 0.5)
except errors.CertdpError as error:
    print(error)
"""
    assert "not the IEEE 754 default" in python(code)


def test_shapes_broadcast() -> None:
    loss, rate = np.array([[0.1], [0.2], [0.3]]), np.array([0.5, 0.25])
    full = bulk.psi_remove(loss, rate)
    assert full.shape == (3, 2)
    for i in range(3):
        for j in range(2):
            assert full[i, j] == bulk.psi_remove(loss[i, 0], rate[j])
    assert bulk.psi_add(0.5, 0.5).shape == ()
    assert bulk.psi_add([], 0.5).shape == (0,)
    assert bulk.psi_add(np.empty((0, 1)), [0.5, 0.1]).shape == (0, 2)
    assert bulk.exp(np.ones((2, 0, 3))).shape == (2, 0, 3)
    assert bulk.psi_remove(np.ones((1, 1)), [0.5]).shape == (1, 1)


@pytest.mark.parametrize("psi", [bulk.psi_remove, bulk.psi_add])
def test_results_do_not_depend_on_layout_share_or_neighbours(psi: Callable[..., Any]) -> None:
    rng = np.random.default_rng(6)
    loss = np.exp2(rng.uniform(-1074, 15, 70_001))
    rate = np.exp2(rng.uniform(-600, 0, 70_001))
    whole = psi(loss, rate)
    for threads in (2, 3, 7):
        assert psi(loss, rate, threads=threads).tobytes() == whole.tobytes()
    strided = np.full((70_001, 2), np.nan)
    strided[:, 0] = loss
    assert psi(strided[:, 0], rate).tobytes() == whole.tobytes()
    assert psi(loss[::-1], rate[::-1])[::-1].tobytes() == whole.tobytes()
    assert psi(loss.astype(">f8"), rate).tobytes() == whole.tobytes()
    alone = np.array([psi(e, q) for e, q in zip(loss[:2000], rate[:2000], strict=True)])
    assert alone.tobytes() == whole[:2000].tobytes()
    constant = psi(loss, np.full_like(loss, rate[0]))
    assert psi(loss, rate[0], threads=2).tobytes() == constant.tobytes()
    assert psi(loss[0], rate).tobytes() == psi(np.full_like(rate, loss[0]), rate).tobytes()


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_elementary_results_do_not_depend_on_share_or_neighbours(name: str) -> None:
    function = getattr(bulk, name)
    values = np.exp2(np.random.default_rng(7).uniform(-1074, 11, 50_001))
    whole = function(values)
    assert function(values, threads=3).tobytes() == whole.tobytes()
    assert np.array([function(v) for v in values[:1000]]).tobytes() == whole[:1000].tobytes()


def test_inputs_are_left_alone() -> None:
    loss, rate = np.array([0.5, 800.0]), np.array([0.5, 0.1])
    loss.flags.writeable = rate.flags.writeable = False
    bulk.psi_remove(loss, rate)
    assert loss.tolist() == [0.5, 800.0]


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "u8", "f2", "f4", "g"])
def test_exact_types_are_taken(dtype: str) -> None:
    assert bulk.psi_remove(np.array([1, 2], dtype=dtype), 1.0).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "parameter", "message"),
    [
        (lambda: bulk.psi_remove([0.1, -0.5], 0.5), "loss", "another value at index 1"),
        (lambda: bulk.psi_remove([[0.1], [np.nan]], 0.5), "loss", "another value at index 1, 0"),
        (lambda: bulk.psi_remove(0.5, [0.1, 1.5]), "rate", "another value at index 1"),
        (lambda: bulk.psi_add(0.5, -1e-300), "rate", "-1e-300"),
        (
            lambda: bulk.psi_add(1.0, np.where(np.arange(5000) == 4321, np.nan, 0.5)),
            "rate",
            "index 4321",
        ),
        (lambda: bulk.psi_add([1.0, 2.0], [0.1, 0.2, 0.3]), "rate", "shapes that broadcast"),
        (lambda: bulk.psi_add([2**53 + 1], 0.5), "loss", "2^53"),
        (lambda: bulk.psi_add(np.array([2**63], dtype=np.uint64), 0.5), "loss", "2^53"),
        (lambda: bulk.psi_add([-(2**63)], 0.5), "loss", "2^53"),
        (lambda: bulk.psi_add([10**30], 0.5), "loss", "dtype object"),
        (lambda: bulk.psi_add([True], 0.5), "loss", "dtype bool"),
        (lambda: bulk.psi_add(["0.5"], 0.5), "loss", "dtype <U3"),
        (lambda: bulk.psi_add([1j], 0.5), "loss", "dtype complex128"),
        (lambda: bulk.psi_add([[1.0], [1.0, 2.0]], 0.5), "loss", "real numbers"),
        (lambda: bulk.psi_add(np.ma.array([1.0], mask=[True]), 0.5), "loss", "masked"),
        (lambda: bulk.psi_add([1.0], 0.5, threads=0), "threads", "≥ 1"),
        (lambda: bulk.psi_add([1.0], 0.5, threads=True), "threads", "≥ 1"),
        (lambda: bulk.exp([0.0, np.nan]), "values", "another value at index 1"),
        (lambda: bulk.log([-1.0]), "values", "another value at index 0"),
        (lambda: bulk.log1p([-1.5]), "values", "numbers ≥ −1"),
        (lambda: bulk.norms([1.0, 2.0], Norm.L1), "records", "shape (2,)"),
        (lambda: bulk.norms([[1.0], [np.inf]], Norm.LINF), "records", "NaN or inf in row 1, column 0"),
        (
            lambda: bulk.norms([[1.0, 2.0], [1.0, np.nan]], Norm.L2),
            "records",
            "NaN or inf in row 1, column 1",
        ),
        (lambda: bulk.norms(np.zeros((1, 2**20 + 1)), Norm.L1), "records", "1048577 columns"),
        (lambda: bulk.norms([[1.0]], "l1"), "norm", "Norm.L1"),  # type: ignore[arg-type]
    ],
)
def test_refusals_say_what_and_why(call: Callable[[], object], parameter: str, message: str) -> None:
    with pytest.raises((InvalidValue, InvalidType)) as caught:
        call()
    assert caught.value.parameter == parameter
    assert caught.value.admissible
    assert message in str(caught.value)


def test_first_bad_row_is_named_with_threads() -> None:
    records = np.ones((40_000, 3))
    records[[123, 39_999], 1] = np.nan
    with pytest.raises(InvalidValue, match="NaN or inf in row 123, column 1"):
        bulk.norms(records, Norm.L1, threads=4)
