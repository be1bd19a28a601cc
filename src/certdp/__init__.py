"""certdp: certified accounting for differential privacy.

A mechanism and a sampler compose to a certified ψ-profile: for every record, a proven bound on what the sampled
mechanism loses about it.

>>> import certdp
>>> run = certdp.SampledRun(
...     mechanism=certdp.LaplaceSum(scale=certdp.Public(1)),
...     sampler=certdp.Importance(rate=certdp.Public("0.3")),
...     domain=certdp.NormBall(norm=certdp.Norm.L1, radius=certdp.Public(5)),
... )
>>> print(run.pure().bound)
ε ≤ 5.000000000000007
>>> print(certdp.check(certdp.profile_certificate(run)).outcome.value)
holds

Many releases, each on a fresh sample or all on one, cost an (ε, δ):

>>> training = certdp.SampledRun(
...     mechanism=certdp.GaussianSum(noise_multiplier=certdp.Public(1)),
...     sampler=certdp.Poisson(rate=certdp.Public("0.01")),
...     releases=certdp.ResampleEach(1000),
... )
>>> answer = training.epsilon(certdp.Delta("1e-5"))
>>> print(f"{answer.epsilon.upper:.9f} by {answer.accountant} accounting")
1.828236667 by loss-distribution accounting

Keys and their counts become a private weighted sample:

>>> sampling = certdp.PrivateWeightedSampling.within(
...     epsilon=1, delta="1e-6", sampler=certdp.Ppswor(threshold=certdp.Public("0.01"))
... )
>>> print(sampling.release({"frequent": 20_000, "as frequent": 30_000, "rare": 1}))
2 keys: (1.0, 1e-06)-DP for one element, add-remove; pws-keys on a sample by ppswor (threshold = 0.01, power = 1)

Names are loaded when they are first used, so that importing certdp is light, and their list with the first of them: the
command answers signals before it imports anything.
"""


def __getattr__(name):
    import lazy_loader

    names = ("__getattr__", "__dir__", "__all__")
    attached = dict(zip(names, lazy_loader.attach_stub(__name__, __file__), strict=True))
    globals().update(attached)
    return attached[name] if name in attached else attached["__getattr__"](name)


def __dir__():
    return __getattr__("__dir__")()
