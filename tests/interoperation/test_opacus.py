"""The accountant with Opacus's protocol: by its own, and registered with the installed Opacus."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.units import Delta, Epsilon
from certdp.interoperation import CertifiedAccountant, Gaussian, PoissonSampled, SelfComposed
from certdp.runs.run import Interval


def trained(*steps: tuple[float, float, int]) -> CertifiedAccountant:
    accountant = CertifiedAccountant()
    for noise, rate, times in steps:
        for _ in range(times):
            accountant.step(noise_multiplier=noise, sample_rate=rate)
    return accountant


def optimizer(noise: float, batches: int = 1) -> Any:
    return SimpleNamespace(noise_multiplier=noise, accumulated_iterations=batches)


def test_equal_steps_in_a_row_are_one_entry() -> None:
    accountant = trained((1.0, 0.01, 3), (2.0, 0.01, 1), (1.0, 0.01, 2))
    assert accountant.history == [(1.0, 0.01, 3), (2.0, 0.01, 1), (1.0, 0.01, 2)]
    assert len(accountant) == 6
    assert CertifiedAccountant.mechanism() == "certdp"


def test_reference_value() -> None:
    accountant = trained((1.0, 0.01, 1000))
    interval = accountant.get_epsilon_interval(1e-5)
    assert accountant.get_epsilon(1e-5) == interval.upper
    assert 1.8282 <= interval.upper <= 2.1014
    assert interval.lower is None or interval.lower <= 1.8283
    event = SelfComposed(PoissonSampled(0.01, Gaussian(1)), 1000)
    assert event.run().epsilon(Delta(1e-5)).epsilon == interval


@pytest.mark.soundness
def test_a_schedule_of_many_different_steps_lies_between_its_ends() -> None:
    schedule = trained(*((1 + i / 300, 0.02 + i * 1e-5, 1) for i in range(300)))
    least, most = trained((2.0, 0.02, 300)), trained((1.0, 0.023, 300))
    found = schedule.get_epsilon_interval(1e-5)
    assert least.get_epsilon_interval(1e-5).upper < (found.lower or 0) < found.upper < most.get_epsilon(1e-5)
    assert found.upper < 1.01 * (found.lower or 0)


def test_without_steps_and_without_noise() -> None:
    assert CertifiedAccountant().get_epsilon_interval(1e-5) == Interval(0, 0)
    assert trained((0.0, 0.0, 5)).get_epsilon(1e-5) == 0  # nobody was ever drawn
    assert trained((1.0, 0.1, 3), (0.0, 0.1, 1)).get_epsilon(1e-5) == math.inf
    assert trained((1.0, 0.1, 3)).get_epsilon(1) == 0


@pytest.mark.parametrize(
    ("noise", "rate"),
    [(-1.0, 0.1), (math.nan, 0.1), (math.inf, 0.1), (1.0, -0.1), (1.0, 1.5), (1.0, math.nan), (None, 0.1), (True, 0.1)],
)
def test_steps_out_of_range_change_nothing(noise: Any, rate: Any) -> None:
    accountant = trained((1.0, 0.1, 2))
    acts: list[Callable[[], object]] = [
        lambda: accountant.step(noise_multiplier=noise, sample_rate=rate),
        lambda: accountant.get_optimizer_hook_fn(rate)(optimizer(noise)),
        partial(setattr, accountant, "history", [(1.0, 0.5, 1), (noise, rate, 1)]),
        lambda: accountant.load_state_dict({"history": [[1.0, 0.5, 1], [noise, rate, 1]], "mechanism": "certdp"}),
    ]
    for act in acts:
        with pytest.raises(InvalidValue):
            act()
    assert accountant.history == [(1.0, 0.1, 2)]
    with pytest.raises(InvalidValue, match="delta"):
        accountant.get_epsilon(0)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"history": []},
        {"mechanism": "certdp"},
        {"history": [], "mechanism": "rdp"},
        {"history": [], "mechanism": 3},
        {"history": "none", "mechanism": "certdp"},
        {"history": {"a": 1}, "mechanism": "certdp"},
        {"history": [[1.0, 0.5]], "mechanism": "certdp"},
        {"history": [[1.0, 0.5, 1, 1]], "mechanism": "certdp"},
        {"history": [[1.0, 0.5, 0]], "mechanism": "certdp"},
        {"history": [[1.0, 0.5, 1.5]], "mechanism": "certdp"},
        {"history": [[1.0, 0.5, True]], "mechanism": "certdp"},
        {"history": [["1", "1/3", 1]], "mechanism": "certdp"},
        {"history": [[1.0, 0.5, 1], None], "mechanism": "certdp"},
        {"history": ["abc"], "mechanism": "certdp"},
    ],
)
def test_damaged_states_are_refused_and_change_nothing(state: Any) -> None:
    accountant = trained((1.0, 0.1, 2))
    with pytest.raises(ValueError, match="admissible"):  # what Opacus documents
        accountant.load_state_dict(state)
    assert accountant.history == [(1.0, 0.1, 2)]


@pytest.mark.parametrize("through", [lambda s: json.loads(json.dumps(s)), lambda s: pickle.loads(pickle.dumps(s))])
@given(st.lists(st.tuples(st.floats(0, 1e300), st.floats(0, 1), st.integers(1, 10**12)), max_size=4))
def test_states_survive_json_and_pickle(through: Callable[[Any], Any], history: list[Any]) -> None:
    accountant, copy = CertifiedAccountant(), CertifiedAccountant()
    accountant.history = history
    copy.load_state_dict(through(accountant.state_dict()))
    assert copy.history == accountant.history == history
    destination: dict[str, Any] = {"epoch": 3}
    assert accountant.state_dict(destination) is destination
    assert destination["mechanism"] == "certdp"
    destination["history"].append("spoilt")
    accountant.history.append((0.0, 1.0, 1))
    assert accountant.history == history


def test_the_hook_records_the_optimizers_steps() -> None:
    accountant = CertifiedAccountant()
    hook = accountant.get_optimizer_hook_fn(sample_rate=0.02)
    for noise in (1.5, 1.5, 1.0):
        hook(optimizer(noise))
    assert accountant.history == [(1.5, 0.02, 2), (1.0, 0.02, 1)]
    for batches in (0, 1.5, None):
        with pytest.raises(InvalidValue, match="accumulated_iterations"):
            hook(optimizer(1.0, batches))  # type: ignore[arg-type]
    assert len(accountant) == 3


def accumulated_delta(noise: float, rate: float, batches: int, epsilon: float) -> float:
    """δ(ε) of one noisy sum over several Poisson batches, exactly: the record is in Binomial(k, q) of them."""
    with mpmath.workdps(40):
        q, shift = mpmath.mpf(rate), 1 / mpmath.mpf(noise)
        chances = [mpmath.binomial(batches, j) * q**j * (1 - q) ** (batches - j) for j in range(batches + 1)]

        def loss(x: Any) -> Any:
            return mpmath.log(
                mpmath.fsum(p * mpmath.exp(j * shift * (x - j * shift / 2)) for j, p in enumerate(chances))
            )

        low, start = mpmath.mpf(-50), mpmath.mpf(50)
        for _ in range(120):  # the loss grows with x
            middle = (low + start) / 2
            low, start = (middle, start) if loss(middle) < epsilon else (low, middle)
        tails = mpmath.fsum(p * mpmath.ncdf(j * shift - start) for j, p in enumerate(chances))
        return float(tails - mpmath.exp(epsilon) * mpmath.ncdf(-start))


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "rate", "batches"), [(1.0, 0.1, 2), (1.0, 0.1, 4), (0.5, 0.01, 2), (3.0, 0.3, 3)])
def test_accumulated_batches_are_bounded(noise: float, rate: float, batches: int) -> None:
    accountant = CertifiedAccountant()
    accountant.get_optimizer_hook_fn(sample_rate=rate)(optimizer(noise, batches))
    for epsilon in (0.5, 2.0, 4.0):
        proven = accountant.event.run().delta(Epsilon(epsilon)).delta.upper
        truth = accumulated_delta(noise, rate, batches, epsilon)
        assert proven >= truth
    # What one step at the summed rate would claim is below the truth at small δ.
    claimed = PoissonSampled(Fraction(rate) * batches, Gaussian(noise)).run().delta(Epsilon(epsilon)).delta.upper
    assert claimed < truth


def test_registered_with_opacus() -> None:
    pytest.importorskip("torch")
    accountants = pytest.importorskip("opacus.accountants")
    from opacus.accountants.utils import get_noise_multiplier  # type: ignore[import-not-found,unused-ignore]

    accountants.register_accountant("certdp", CertifiedAccountant, force=True)
    accountant = accountants.create_accountant("certdp")
    abstract = accountants.IAccountant
    public = {name for name in dir(abstract) if not name.startswith("_")} | {"__len__", "history"}
    assert all(hasattr(accountant, name) for name in public)
    noise = get_noise_multiplier(
        target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, steps=500, accountant="certdp", epsilon_tolerance=0.05
    )
    accountant.history = [(noise, 0.01, 500)]
    assert 1.9 < accountant.get_epsilon(1e-5) <= 2.0


@pytest.mark.filterwarnings("ignore")  # of Opacus about its random numbers, and of torch
def test_trained_with_opacus() -> None:
    torch: Any = pytest.importorskip("torch")
    opacus: Any = pytest.importorskip("opacus")
    opacus.accountants.register_accountant("certdp", CertifiedAccountant, force=True)
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,)))
    engine = opacus.PrivacyEngine(accountant="certdp")
    model = torch.nn.Linear(3, 2)
    model, optimiser, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=8),
        noise_multiplier=1.25,
        max_grad_norm=1.0,
    )
    for inputs, labels in loader:
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimiser.step()
    assert engine.accountant.history == [(1.25, 0.125, len(engine.accountant))]
    assert len(engine.accountant) == 8
    event = SelfComposed(PoissonSampled("1/8", Gaussian("1.25")), 8)
    assert engine.get_epsilon(1e-5) == event.run().epsilon(Delta(1e-5)).epsilon.upper
    copy = CertifiedAccountant()
    copy.load_state_dict(engine.accountant.state_dict())
    assert copy.history == engine.accountant.history
