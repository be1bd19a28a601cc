"""How far above the answers of keyed runs their certificates lie."""

from __future__ import annotations

from fractions import Fraction

from certdp import EveryKey, KeyedRun, Ppswor, Public, PwsFrequencies, PwsKeys, certificate

RELEASES = (("0.5", "1e-3", 1), ("0.5", "1e-3", 2), ("0.5", "1e-3", 10), ("0.1", "1e-6", 100))
SAMPLERS = (EveryKey(), Ppswor(threshold=Public("0.1")))
DELTAS = (Fraction(1), Fraction(3, 2), Fraction(10))
EPSILONS = (Fraction(1, 4), Fraction(1, 2), Fraction(1))


def main() -> None:
    """Print the relative distances, largest of both samplers, at each δ and each ε."""
    for kind in (PwsKeys, PwsFrequencies):
        for epsilon, delta, times in RELEASES:
            mechanism = kind(epsilon=Public(epsilon), delta=Public(delta))
            runs = [KeyedRun(mechanism=mechanism, sampler=sampler, releases=times) for sampler in SAMPLERS]
            at_deltas = [max(_of_epsilon(run, factor * times * Fraction(delta)) for run in runs) for factor in DELTAS]
            at_epsilons = [
                max(_of_delta(run, factor * times * Fraction(epsilon)) for run in runs) for factor in EPSILONS
            ]
            shown = [", ".join(f"{above:.2g}" for above in found) for found in (at_deltas, at_epsilons)]
            print(f"{kind.__name__} ({epsilon}, {delta}) x {times}: epsilon {shown[0]}; delta {shown[1]}", flush=True)


def _of_epsilon(run: KeyedRun, delta: Fraction) -> float:
    answer = run.epsilon(delta)
    return float(certificate(run, answer).epsilon / Fraction(answer.epsilon.upper)) - 1


def _of_delta(run: KeyedRun, epsilon: Fraction) -> float:
    answer = run.delta(epsilon)
    return float(certificate(run, answer).delta / Fraction(answer.delta.upper)) - 1


if __name__ == "__main__":
    main()
