"""Losses of records are private, and a run that depends on released values has no order chosen afterwards."""

import numpy as np

from certdp.accounting.individual.filter import IndividualFilter
from certdp.accounting.individual.losses import IndividualLosses
from certdp.accounting.provenance import Private, Public, Released, publish
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.plots.records import plot_losses
from certdp.records.statistics import LossHistogram, release_count, release_quantile

losses = IndividualLosses(3)
account = IndividualFilter(Order(4), "0.5", 3)
mask = account.step(0.1, 0.2)
count = release_count(mask, Epsilon(1))
grid = Public((0.1, 1.0))

losses.step(0.1, 0.2, given=grid)
losses.step(0.1, 0.2, given=count)  # E: mypy=arg-type pyright=reportArgumentType
losses.step(0.1, 0.2, given=mask)  # E: mypy=arg-type pyright=reportArgumentType
losses.step(0.1, 0.2)  # E: mypy=call-arg pyright=reportCallIssue
epsilon: Private[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = losses.epsilon(Delta("1e-5"))
publish(epsilon)  # E: mypy=arg-type pyright=reportArgumentType
publish(mask)  # E: mypy=arg-type pyright=reportArgumentType
IndividualFilter(Delta(0), "0.5", 3)  # E: mypy=arg-type pyright=reportArgumentType
counted = epsilon.map(lambda values: LossHistogram.of(values, grid))
median: Released[float] = release_quantile(counted, "0.5", Epsilon(1))
release_quantile(counted.reveal(), "0.5", Epsilon(1))  # E: mypy=arg-type pyright=reportArgumentType
release_quantile(counted, "0.5", Delta("0.1"))  # E: mypy=arg-type pyright=reportArgumentType
LossHistogram.of(epsilon.reveal(), epsilon)  # E: mypy=arg-type pyright=reportArgumentType
publish(plot_losses(epsilon))  # E: mypy=arg-type pyright=reportArgumentType
publish(median)
