"""DPKMeans: k-means under differential privacy as a scikit-learn estimator.

What a fitted estimator holds is either public or released under the certificate, but for `private_`, from which
`labels_` and `inertia_` are read: those three are for the data's owner. They are left out when the estimator is
pickled or copied, and so is its ledger, so a saved model can be published.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from .accounting.bulk.clusters import Integers, nearest_centres, squared_distances
from .accounting.display import rounded_up
from .accounting.enclosures import Enclosure
from .accounting.errors import InvalidValue
from .accounting.exact import Floats, Number, exact
from .accounting.norms import Norm
from .accounting.provenance import Private, Public
from .accounting.sampling.clipping import Held, Outside, hold
from .accounting.sampling.domains import NormBall
from .accounting.sampling.records import Realisation
from .accounting.units import Epsilon
from .data import Records
from .ledger import PaidFrom, request_of
from .mechanisms.lloyd import Lloyd
from .plugins.contract import AnySampler, Coins, LossSampler, Sampler, draw_from
from .plugins.contract.coins import release_coins
from .plugins.contract.draw import joined_samples
from .runs.certificates import pure_claim
from .runs.digests import plan_digest
from .runs.least_scale import least_scale, proven
from .runs.prepared import require_admissible
from .runs.sampled import SampledRun
from .runs.statements import ReleaseStatement
from .samplers.full import Full
from .samplers.poisson import Poisson
from .verification.certificates.writing import SampledPureClaim, public_certificate

try:
    from joblib import effective_n_jobs
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("DPKMeans needs scikit-learn: pip install 'certdp[sklearn]'") from error

SamplerFor: TypeAlias = Callable[[Lloyd], AnySampler]
"""Makes the sampler for a mechanism, where it depends on what that loses about a record."""

_SEEDS = 2**31 - 1


class Seeded(InvalidValue, AttributeError):
    """A question for what a fit guarantees, put to one with seeded coins, which guarantees nothing."""


class NotPrivate(UserWarning):
    """A run with seeded coins, which is for experiments: whoever knows the seed can undo the noise."""


class LeftOut(Enum):
    """What a pickled or copied estimator has in place of what it does not hold."""

    LEDGER = "its ledger, with what pays from it"


@final
@frozen(eq=False)
class Fit:
    """What the data's owner may know about a fit: computed from the records, not for publication.

    Attributes:
        inertia: Σ ‖x − c‖² over all records given and their nearest released centres.
        records: how many records were given.
        outside: how many of them were clipped or dropped.
        sample_size: how many were drawn.
    """

    inertia: float
    records: int
    outside: int
    sample_size: int
    _labels: Integers | None = field(alias="labels", repr=False)

    @property
    def labels(self) -> Integers:
        """The index of the released centre nearest to each record given: int64 (n,).

        Raises:
            InvalidValue: for records that were read in chunks.
        """
        if self._labels is None:
            remedy = "Predict them chunk by chunk: predict"
            raise InvalidValue("labels", "those of records that stream", "labels of a matrix", remedy)
        return self._labels


class DPKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """k-means by weighted DP-Lloyd on a Poisson importance sample, calibrated to a certified ε.

    Every parameter is a public constant, fixed before the data are seen; X is private. Numbers may be given as exact
    text, such as "0.1".

    Args:
        n_clusters: number of clusters.
        epsilon: the ε that a fit may cost, above 0.
        radius: public bound on ‖x − centre‖_norm, above 0; required. Take it from what an entry means (the range of a
            sensor, 1 for normalised rows), never from the data at hand. A smaller one needs less noise, and distorts
            the records outside it.
        centre: public centre of the ball of records, (n_features,); the origin unless given.
        norm: the norm of that ball and of the noise: a number ≥ 1 or inf.
        sampler: which records enter and with what weight: a sampler plugin, or a function that makes one for the
            mechanism; unless given every record enters. One that depends on the mechanism, such as PrivacyConstrained,
            needs `noise_scale` too.
        sample_size: instead of `sampler`, the expected size of a uniform sample, weighted by the inverse of its rate.
        population: the public number of records that `sample_size` is out of. It need not be the true one.
        max_iter: number of iterations T, all of which are run.
        split: how the noise is split between counts and sums: derived or published, see `mechanisms.lloyd.Split`.
        noise_scale: scale of the noise of the sums; unless given the least one, nearly, with which the fit costs at
            most `epsilon`.
        outside: what happens to a record outside the ball: clip or drop.
        random_state: for experiments only: a seed or RandomState makes the run reproducible and not private, with the
            warning `NotPrivate`. None takes all coins from the operating system.
        ledger: what a fit is paid from before it draws: a `Ledger`, or a `LedgerRequest` that names the fit. Pickles
            and copies of the estimator leave it out: they predict, and fit where it is stated anew.
        n_jobs: threads, −1 for all processors; the result is the same for any number.

    Attributes:
        cluster_centers_: the released centres, (n_clusters, n_features).
        is_private_: whether the coins were private; where they were seeded, the next two are absent.
        epsilon_spent_: the certified ε of the fit, an upper bound in binary64, at most `epsilon`: it holds for all
            records of the ball under adding or removing one.
        certificate_: the publishable certificate, bytes.
        statement_: what may be said of the fit in public: mechanism, sampler, units of the grids, coins, and the
            digest of `cluster_centers_` as an npy file.
        n_iter_: the number of iterations, max_iter.
        mechanism_, sampler_, domain_: what was run, and for which records.
        n_features_in_, feature_names_in_: as everywhere in scikit-learn; taken as public.
        private_: a `Private` `Fit`: the figures for the data's owner.
        labels_, inertia_: the owner's labels and cost, read from `private_`; gone after pickling and copying.

    Guarantees:
        The released centres satisfy the guarantee that `certificate_` states. `predict`, `transform` and `score` on
        other records cost nothing; what they return is as private as those records.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Epsilon | Number = 1.0,
        radius: Number | None = None,
        centre: ArrayLike | None = None,
        norm: Number = 2,
        sampler: AnySampler | SamplerFor | None = None,
        sample_size: Number | None = None,
        population: Number | None = None,
        max_iter: int = 10,
        split: str = "derived",
        noise_scale: Number | None = None,
        outside: str = "clip",
        random_state: Any = None,
        ledger: PaidFrom | None = None,
        n_jobs: Any = -1,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.radius = radius
        self.centre = centre
        self.norm = norm
        self.sampler = sampler
        self.sample_size = sample_size
        self.population = population
        self.max_iter = max_iter
        self.split = split
        self.noise_scale = noise_scale
        self.outside = outside
        self.random_state = random_state
        self.ledger: PaidFrom | LeftOut | None = ledger
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: object = None) -> DPKMeans:
        """Release centres for the records X.

        Args:
            X: matrix (n_samples, n_features) of finite numbers; or what `open_records` gives, which is read chunk by
                chunk, three times: memory is that of a chunk and the sample, and no labels are held.
            y: ignored.

        Raises:
            InvalidValue: for a parameter that is missing or inadmissible, by its name; nothing is released then.
            NoFiniteSupremum: for a sampler under which no noise suffices, such as one without a floor.
            BudgetExceeded: where the ledger does not cover the fit; nothing is released then. Otherwise as
                `LedgerRequest.pay`.
        """
        streams = isinstance(X, Records)
        if streams:
            validate_data(
                self, cast(Any, np.zeros((1, X.columns)))
            )  # notes how many columns there are, and that none has a name
        given = X if streams else Records.of(cast(Floats, validate_data(self, X, dtype=np.float64)))
        if isinstance(self.ledger, LeftOut):
            remedy = "State it anew: set_params(ledger=…)"
            raise InvalidValue(
                "ledger", None, "the ledger, which a pickle or a copy of an estimator leaves out", remedy
            )
        outside, origin = _outside(self.outside), _centre(self.centre, given.columns)
        domain = self._domain(given.columns)
        mechanism, sampler, claim = self._calibrated(domain)
        coins, threads = self._coins(), effective_n_jobs(self.n_jobs)

        run = SampledRun(mechanism=mechanism, sampler=sampler, domain=domain)
        rows = None if streams else given.shape[0]

        def realised() -> Iterator[tuple[Held, Realisation]]:
            done = 0
            for some in given.chunks(rows):
                held = hold(some - origin if origin.any() else some, domain, outside, first=done)
                yield held, run.drawing.realise(held.features)
                done += len(some)

        def beyond_domain(held: Held, realisation: Realisation) -> int:
            require_admissible(mechanism, held.features, realisation)
            return held.outside

        beyond = sum(beyond_domain(*some) for some in realised())  # nothing is paid for what cannot be released
        proof = (public_certificate(claim), Enclosure.of(proven(claim)).upper_float) if coins.private else None
        if self.ledger is not None:
            certificate = None if proof is None else proof[0]
            paid = request_of(self.ledger, "centres")
            centre = " ".join(entry.hex() for entry in origin.tolist())
            digest = plan_digest(run, outside=outside.value, centre=centre)
            paid.pay(paid.ledger.rule.cost_of(run), plan=digest, coins=coins, certificate=certificate)
        pieces = [draw_from(held.features, realisation, coins) for held, realisation in realised()]
        sample = joined_samples(pieces)
        centres = mechanism.release(sample, coins, threads=threads) + origin
        labels: list[Integers] = []
        count = 0

        def distances() -> Iterator[float]:
            nonlocal count
            for some in given.chunks(rows):
                count += len(some)
                labels.append(nearest_centres(some, centres, threads=threads))
                yield from squared_distances(some, centres, labels[-1], threads=threads)
                if streams:
                    labels.clear()

        inertia = math.fsum(distances())  # exact until its one rounding, so it depends on no chunks

        self.mechanism_, self.sampler_, self.domain_ = mechanism, sampler, domain
        self._proof = proof
        self.is_private_ = coins.private
        self.statement_ = ReleaseStatement.of(run, centres, private=coins.private)
        self.cluster_centers_ = centres
        self.n_iter_ = self.max_iter
        self.private_ = Private(
            Fit(
                inertia=inertia,
                records=count,
                outside=beyond,
                sample_size=len(sample),
                labels=None if streams else np.concatenate(labels),
            )
        )
        return self

    def predict(self, X: Any) -> Integers:
        """The index of the nearest released centre of each record."""
        return nearest_centres(self._checked(X), self.cluster_centers_, threads=effective_n_jobs(self.n_jobs))

    def transform(self, X: Any) -> Floats:
        """The distances of each record to the released centres: (n_samples, n_clusters)."""
        return np.asarray(euclidean_distances(self._checked(X), self.cluster_centers_))

    def score(self, X: Any, y: object = None) -> float:
        """The negative k-means cost of X: −Σ min_c ‖x − c‖². As private as X is."""
        records, labels = self._checked(X), self.predict(X)
        return -math.fsum(squared_distances(records, self.cluster_centers_, labels))

    @property
    def certificate_(self) -> bytes:
        """The publishable certificate; absent after a fit with seeded coins."""
        return self._proven("certificate_")[0]

    @property
    def epsilon_spent_(self) -> float:
        """The certified ε of the fit; absent after a fit with seeded coins."""
        return self._proven("epsilon_spent_")[1]

    def _proven(self, asked: str) -> tuple[bytes, float]:
        check_is_fitted(self)
        proof: tuple[bytes, float] | None = self._proof  # of a fit
        if proof is None:
            raise Seeded(asked, "a fit with random_state", "a private fit", "Fit it with random_state=None")
        return proof

    @property
    def labels_(self) -> Integers:
        """The owner's labels: the index of the nearest released centre of each record of the fit."""
        return self.private_.reveal().labels

    @property
    def inertia_(self) -> float:
        """The owner's cost: Σ min_c ‖x − c‖² over the records of the fit."""
        return self.private_.reveal().inertia

    def __getstate__(self) -> dict[str, Any]:
        state = cast(dict[str, Any], super().__getstate__())
        kept = {name: value for name, value in state.items() if name != "private_"}
        if kept.get("ledger") is not None:  # a copy that had none would fit unpaid
            kept["ledger"] = LeftOut.LEDGER
        return kept

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _checked(self, X: Any) -> Floats:
        check_is_fitted(self)
        return cast(Floats, validate_data(self, X, dtype=np.float64, reset=False))

    def _domain(self, dimension: int) -> NormBall:
        if self.radius is None:
            raise InvalidValue(
                "radius",
                None,
                "a number > 0: a public bound on the norm of a record",
                "Choose it from what an entry means (the range of a sensor, 1 for normalised rows), not from the data; "
                "records outside it are clipped or dropped",
            )
        return NormBall(norm=Norm(self.norm), radius=Public(self.radius), dimension=dimension)

    def _calibrated(self, domain: NormBall) -> tuple[Lloyd, AnySampler, SampledPureClaim]:
        """The mechanism, the sampler, and the proof that together they cost at most `epsilon` on the domain."""

        def at(scale: Number) -> Lloyd:
            assert domain.dimension is not None
            return Lloyd(
                clusters=Public(self.n_clusters),
                scale_sum=Public(scale),
                split=Public(self.split),
                radius=domain.radius,
                norm=Public(domain.norm),
                iterations=Public(self.max_iter),
                dimension=Public(domain.dimension),
            )

        target, sampler = exact(self.epsilon, parameter="epsilon"), self._sampler()
        if self.noise_scale is None:
            if not isinstance(sampler, Sampler):
                raise InvalidValue(
                    "noise_scale",
                    None,
                    "a number > 0, where the sampler depends on the mechanism",
                    "More noise allows larger weights, that is a smaller sample: choose the scale of the noise",
                )
            found = least_scale(at, sampler, domain, target)
            return found.mechanism, sampler, found.claim
        mechanism = at(self.noise_scale)
        made = sampler if isinstance(sampler, Sampler | LossSampler) else sampler(mechanism)
        claim = pure_claim(SampledRun(mechanism=mechanism, sampler=made, domain=domain))
        if proven(claim) > target:
            cost = f"With it a fit costs {rounded_up(proven(claim), 6)}"
            raise InvalidValue("noise_scale", self.noise_scale, f"one that costs at most {float(target)}", cost)
        return mechanism, made, claim

    def _sampler(self) -> AnySampler | SamplerFor:
        sizes = {"sample_size": self.sample_size, "population": self.population}
        stated = {name: value for name, value in sizes.items() if value is not None}
        if self.sampler is not None:
            if stated:
                raise InvalidValue(" and ".join(stated), tuple(stated.values()), "nothing, where a sampler is given")
            return self.sampler
        if not stated:
            return Full()
        if len(stated) == 1:
            raise InvalidValue(
                "sample_size and population", stated, "both of them", "A sampling rate needs a public population"
            )
        size, population = (exact(value, parameter=name) for name, value in stated.items())
        if not 0 < size <= population:
            raise InvalidValue("sample_size", self.sample_size, f"a number in (0, population = {population}]")
        return Poisson(rate=Public(Fraction(size / population)), weighted=Public(True))

    def _coins(self) -> Coins:
        if self.random_state is None:
            return release_coins(None)
        warnings.warn(
            "random_state is given: whoever knows the seed can undo the noise, so this run is not private",
            NotPrivate,
            stacklevel=3,
        )
        return Coins.seeded(int(check_random_state(self.random_state).randint(_SEEDS)))


def _outside(word: str) -> Outside:
    try:
        return Outside(word)
    except ValueError:
        raise InvalidValue("outside", word, "clip or drop") from None


def _centre(value: ArrayLike | None, dimension: int) -> Floats:
    if value is None:
        return np.zeros(dimension)
    centre = np.asarray(value, dtype=np.float64)
    if centre.shape != (dimension,) or not np.isfinite(centre).all():
        raise InvalidValue("centre", value, f"{dimension} finite numbers, one per column of the records")
    return centre
