"""What reads the records is private: no sampler, no parameter, no publication."""

import numpy as np

from certdp.accounting.provenance import Private, Public, publish
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import Sampler, draw
from certdp.runs.sampled import SampledRun
from certdp.samplers.coreset import Coreset
from certdp.samplers.importance import Importance
from certdp.samplers.variance_optimal import probabilities, variance_optimal, weighted_sum_variance

records = np.ones((3, 2))
optimal = variance_optimal(records, m=2)
drawn = probabilities(Importance(rate=Public("0.3")), records)
variance: Private[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = weighted_sum_variance(records, optimal, scale=1)

weighted_sum_variance(records, optimal.reveal(), scale=1)  # E: mypy=arg-type pyright=reportArgumentType
SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=optimal)  # E: mypy=arg-type pyright=reportArgumentType
sampler: Sampler = optimal  # E: mypy=assignment pyright=reportAssignmentType
draw(optimal, records)  # E: mypy=arg-type pyright=reportArgumentType
publish(optimal)  # E: mypy=arg-type pyright=reportArgumentType
Importance(rate=optimal)  # E: mypy=arg-type pyright=reportArgumentType
two, three = Public(2), Public(3)
share = optimal.map(lambda q: float(q.sum()))
Coreset(m=share, n=three, mean_squared_norm=two, radius=two)  # E: mypy=arg-type pyright=reportArgumentType
Coreset(m=2, n=three, mean_squared_norm=two, radius=two)  # E: mypy=arg-type pyright=reportArgumentType
Coreset(m=two, n=three, mean_squared_norm=two, radius=two)
