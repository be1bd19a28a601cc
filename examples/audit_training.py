"""Audits training by DPIS from one run: thousands of canaries, each included by a coin of its own.

    python examples/audit_training.py

A canary is a record with one feature of its own, so that it moves two parameters and no other canary moves them.
Whoever sees the trained parameters guesses from these two whether it was there.
"""

from fractions import Fraction

import numpy as np

import certdp
from certdp import Coins, Delta, Epsilon, Public
from certdp.dpis import FixedClip, NormSums, PublicSize, RunPlan, Sgd, Trained, train
from certdp.dpis.models import LabelledData, Logistic, RecordModel

CANARIES, GUESSES = 4000, 1000  # both fixed before the run
CLAIM = certdp.Budget(epsilon=Epsilon(1), delta=Delta("1e-5"))
LOUD = 10.0  # a feature so large that the gradient is clipped


def trained_on_canaries(seed: int | None = None) -> tuple[certdp.audits.OneRunAudit, Trained]:
    """Train on the canaries that their coins include, and guess."""
    included = np.random.default_rng(seed).random(CANARIES) < 0.5
    features = LOUD * np.eye(CANARIES)[included]
    labels = np.ones(len(features), dtype=np.int64)
    size = Fraction(CANARIES, 2)  # how many there are is private
    plan = RunPlan(
        budget=CLAIM,
        batch=Public(size / 2),
        epochs=1,
        steps_per_epoch=4,
        size=PublicSize(size=Public(size)),
        clip=FixedClip(bound=Public(1)),
        norm_sums=NormSums(noise_multiplier=Public(40)),
    )
    network = Logistic(features=CANARIES, classes=2)
    model = RecordModel(network, LabelledData(features=features, labels=labels), Sgd(rate=1.0))
    trained = train(model, plan, coins=Coins() if seed is None else Coins.seeded(seed))
    parameters = model.parameters.reshape(2, -1)[:, :-1]
    right = certdp.audits.correct_guesses(parameters[1] - parameters[0], included, guesses=GUESSES)
    return certdp.audits.audit_one_run(right, GUESSES, canaries=CANARIES, delta=CLAIM.delta), trained


def main() -> None:
    """Print what one run shows beside what is claimed of it."""
    found, trained = trained_on_canaries()
    print(found)
    print("claimed:", CLAIM, "- paid:", round(trained.epsilon, 4), "- refuted:", found.refutes(CLAIM.epsilon))


if __name__ == "__main__":
    main()
