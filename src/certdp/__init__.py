"""certdp: certified accounting for differential privacy.

A mechanism and a sampler compose to a certified ψ-profile: for every record, a proven bound on what the sampled
mechanism loses about it.

>>> import certdp
>>> run = certdp.SampledMechanism(
...     mechanism=certdp.LaplaceSum(scale=certdp.Public(1)),
...     sampler=certdp.Importance(rate=certdp.Public("0.3")),
... )
>>> domain = certdp.NormBall(norm=run.norm, radius=certdp.Public(5))
>>> print(run.guarantee(domain).bound)
ε ≤ 5.0000000000000115
>>> print(certdp.check(run.certificate(domain)).outcome.value)
holds

Names are loaded when they are first used, so that importing certdp is light.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
