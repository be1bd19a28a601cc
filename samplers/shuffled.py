"""Answers of local randomisers in an order that is drawn uniformly."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.expressions import enclose, variables
from ..accounting.pairs import MOST_USERS
from ..accounting.relations import REPLACE
from ..accounting.sampling.batches import BatchRate, ShuffledAnswers
from ..accounting.sampling.losses import FamilyLoss, Loss
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, whole
from ..plugins.contract.parameters import require_public


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Shuffled:
    """Every record, in an order that is drawn uniformly: the shuffle model of local randomisers.

    Args:
        users: how many records there are at least, n; from 1 to 2^40.

    Guarantees:
        They hold for records that are replaced by others, where only the answers are seen, in the order in which they
        are released. The bound is from above alone. Batches of a shuffled data set are those of `ShuffledBatches`.

    Raises:
        InvalidValue: outside this range, for a released number, and for a mechanism that does not answer for each
            record by itself.
    """

    about: ClassVar[About] = About(
        name="shuffled",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Feldman, McMillan, Talwar 2021, Theorem 3.2; docs/soundness_shuffling.md",
        relations=(REPLACE,),
    )

    users: Real = field(converter=whole, metadata={"help": "how many records there are at least"})

    def __attrs_post_init__(self) -> None:
        require_public(users=self.users)
        if self.users.value > MOST_USERS:
            raise InvalidValue("users", self.users.value, f"a whole number from 1 to {MOST_USERS}")

    def rate_for(self, loss: Loss) -> BatchRate:
        """How records are drawn for a mechanism with this loss.

        Raises:
            InvalidValue: for one that does not answer for each record by itself.
        """
        match loss:
            case FamilyLoss(pure_loss=pure, clones=Enclosure() as clones) if pure is not None:
                if not variables(pure.epsilon):
                    local = enclose(pure.epsilon, {}, precision=clones.precision)
                    return BatchRate(ShuffledAnswers(int(self.users.value), local, clones))
        raise InvalidValue(
            "mechanism",
            type(loss).__name__,
            "a local randomiser, such as randomised-response: it answers for each record by itself",
            "What a sum over records releases does not become less telling by their order: draw batches of them",
        )
