"""The laws that certdp asks every mechanism to keep, one test each."""

from permute_and_flip import PermuteAndFlip

from certdp.plugins.conformance import LawTest, parametrize


@parametrize(PermuteAndFlip, audit_trials=2000)
def test_law(law: LawTest) -> None:
    law()
