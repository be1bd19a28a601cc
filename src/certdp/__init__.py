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

_ATTACHED = []
_NEEDS = {"DPKMeans": "sklearn"}  # listed where that is installed; asked for elsewhere, it says what to install


def _attached():
    """What loads a name, and the names; made when the first is asked for."""
    if not _ATTACHED:
        import lazy_loader

        load, _, names = lazy_loader.attach_stub(__name__, __file__)
        _ATTACHED.append((load, names))
    return _ATTACHED[0]


def __getattr__(name):
    if name == "__all__":
        return _listed()
    load, names = _attached()
    if name in names or name.startswith("_"):
        return _of_a_module(load(name))
    near = _near(name)
    hint = f"; near to it: {', '.join(near)}" if near else ""
    raise AttributeError(f"No {__name__} attribute {name}{hint}", name=name)


def _of_a_module(value):
    """The value; functions that attrs made for its class say which module they are of, which `help` of 3.13 asks."""
    for kind in getattr(value, "__mro__", ()):
        made = vars(kind).get("__getattr__")
        if made is not None and made.__module__ is None:
            made.__module__ = kind.__module__
    return value


def __dir__():
    return sorted(_listed())


def _listed():
    """The names that can be loaded with what is installed."""
    from importlib.util import find_spec

    absent = {name for name, needed in _NEEDS.items() if find_spec(needed) is None}
    return [name for name in _attached()[1] if name not in absent]


def _near(name):
    """Up to four public names that are a slip away from `name` or contain it, each with the module that has it."""
    import difflib
    from importlib.util import find_spec

    load, names = _attached()[0], _listed()
    places = {each: f"{__name__}.{each}" for each in names}
    for module in [each for each in names if find_spec(f"{__name__}.{each}") is not None]:
        for each in dir(load(module)):
            if not each.startswith("_"):
                places.setdefault(each, f"{__name__}.{module}.{each}")
    containing = sorted((each for each in places if name.lower() in each.lower()), key=len)
    close = difflib.get_close_matches(name, places, n=4, cutoff=0.7)
    return [places[each] for each in dict.fromkeys([*close, *containing])][:4]
