"""The laws that certdp asks every sampler to keep, one test each."""

from power_allocation import PowerAllocation

from certdp.plugins.conformance import LawTest, parametrize


@parametrize(PowerAllocation, audit_trials=2000)
def test_law(law: LawTest) -> None:
    law()
