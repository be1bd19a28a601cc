"""Writes what 1,000 steps of a sampled Gaussian sum lose about each row of a CSV, for the data's owner.

    python examples/losses_per_record.py DATA.csv OUT.csv

Without arguments it takes the embedded example and prints the largest loss. What it writes is computed from the
records: it is not for publication. The guarantee that is printed is.
"""

import sys

import numpy as np

import certdp
from certdp import Delta, Public

DELTA = Delta("1e-5")


def main(paths: list[str]) -> None:
    """Prove ε for every record within the radius, then for each record given."""
    training = certdp.SampledRun(
        mechanism=certdp.GaussianSum(scale=Public(1)),
        sampler=certdp.Poisson(rate=Public("0.01")),
        releases=certdp.ResampleEach(1000),
        domain=certdp.NormBall(norm=certdp.Norm.L2, radius=Public(1)),
    )
    print("every record:", training.epsilon(DELTA))

    records = certdp.read_records(paths[0]) if paths else certdp.example_records()
    losses = certdp.record_losses(training, records, at=DELTA).reveal()
    print(f"the owner's {losses.records} records: median {losses.quantiles[0.5]:.4f}, largest {losses.largest:.4f}")
    if len(paths) > 1:
        np.savetxt(paths[1], losses.values, header="epsilon", comments="")


if __name__ == "__main__":
    main(sys.argv[1:])
