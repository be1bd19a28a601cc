"""The experiments by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..accounting.errors import InvalidValue
from . import (
    dpis_figure_1,
    dpis_tables,
    figure_1,
    figure_2,
    pws_errors,
    pws_fractions,
    pws_order,
    pws_probabilities,
    table_1,
    times,
    trade_offs,
)
from .count_experiments import CountExperiment
from .data_sets import APPENDIX, MAIN
from .dpis_tables import TrainingExperiment
from .experiment import Experiment
from .networks import Convolutional, Recurrent
from .record_experiments import RecordExperiment

_SONG = MAIN[2:3]

_IMPORTANCE_SAMPLING: Mapping[str, Experiment] = {
    "is-fig1": RecordExperiment("IS Figure 1: samples in the plane of two components", figure_1.run, 1, _SONG),
    "is-fig2": RecordExperiment("IS Figure 2: samplers for the Laplace sum", figure_2.run, 1000, ()),
    "is-fig3": RecordExperiment("IS Figure 3: cost against ε", trade_offs.against_epsilon, 50, MAIN),
    "is-fig4": RecordExperiment("IS Figure 4: cost against sample size", trade_offs.against_size, 50, MAIN),
    "is-fig5": RecordExperiment("IS Figure 5: computation times", times.figure, 5, MAIN),
    "is-fig6": RecordExperiment("IS Figure 6: Figure 3, other data", trade_offs.against_epsilon, 50, APPENDIX),
    "is-fig7": RecordExperiment("IS Figure 7: Figure 4, other data", trade_offs.against_size, 50, APPENDIX),
    "is-table1": RecordExperiment("IS Table 1: n, d, r and x̃ of the data", table_1.run, 1, (*MAIN, *APPENDIX)),
    "is-table2": RecordExperiment("IS Table 2: the numbers of Figure 5", times.tables, 5, MAIN),
    "is-table3": RecordExperiment("IS Table 3: Table 2, other data", times.tables, 5, APPENDIX),
}
_WEIGHTED_SAMPLING: Mapping[str, Experiment] = {
    "pws-fig1": CountExperiment("PWS Figure 1: reporting without sampling", pws_probabilities.unsampled, False),
    "pws-fig2": CountExperiment("PWS Figure 2: share of keys reported against δ", pws_fractions.against_delta, True),
    "pws-fig3": CountExperiment("PWS Figure 3: reporting with sampling", pws_probabilities.sampled, False),
    "pws-fig4": CountExperiment("PWS Figure 4: share of keys against τ", pws_fractions.against_threshold, True),
    "pws-fig5": CountExperiment("PWS Figure 5: bias per key, error of sums against τ", pws_errors.bias, True),
    "pws-fig6": CountExperiment("PWS Figure 6: variance per key", pws_errors.variance, False),
    "pws-order": pws_order.OrderExperiment("PWS Section 6: order and sums from private samples"),
}
_TRAINING: Mapping[str, Experiment] = {
    "dpis-fig1": dpis_figure_1.NoiseExperiment("DPIS Figure 1: noise multipliers by epoch"),
    "dpis-table3": TrainingExperiment(
        "DPIS Table 3: accuracy by method", dpis_tables.by_method, ("0.5", "1", "2", "3", "4"), "ε"
    ),
    "dpis-table3-cnn": TrainingExperiment(
        "DPIS Table 3: convolutional networks on images",
        dpis_tables.by_method_on_features,
        ("0.5", "1", "2", "3", "4"),
        "ε",
        Convolutional(),
        3,
    ),
    "dpis-table3-lstm": TrainingExperiment(
        "DPIS Table 3: recurrent networks on texts",
        dpis_tables.by_method,
        ("0.5", "1", "2", "3", "4"),
        "ε",
        Recurrent(),
        3,
    ),
    "dpis-paired": TrainingExperiment(
        "DPIS Table 3: DPIS and DP-SGD, more runs with the same coins on fewer records",
        dpis_tables.by_pair,
        dpis_tables.PAIRED_EPSILONS,
        "ε",
        repetitions=10,
        records=10_000,
    ),
    "dpis-table4": TrainingExperiment(
        "DPIS Table 4: adaptive clipping", dpis_tables.by_adaptation, ("0.5", "1", "2", "3"), "ε"
    ),
    "dpis-table5": TrainingExperiment("DPIS Table 5: budget divider a_E", dpis_tables.by_divider, ("1",), "a_E"),
    "dpis-table6": TrainingExperiment("DPIS Table 6: multiplier k", dpis_tables.by_multiplier, ("1",), "k"),
    "dpis-table7": TrainingExperiment("DPIS Table 7: external bound C*", dpis_tables.by_external, ("1",), "C*/C₁"),
    "dpis-table8": TrainingExperiment("DPIS Table 8: quantile λ", dpis_tables.by_quantile, ("1",), "λ"),
}

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType({**_IMPORTANCE_SAMPLING, **_WEIGHTED_SAMPLING, **_TRAINING})


def experiment_named(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        InvalidValue: for an unknown name.
    """
    if name not in EXPERIMENTS:
        raise InvalidValue("experiment", name, f"one of: {', '.join(EXPERIMENTS)}", "Choose one of these")
    return EXPERIMENTS[name]
