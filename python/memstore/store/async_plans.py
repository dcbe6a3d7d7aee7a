"""Plans of an async store: ``apply`` is a coroutine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.coroutines import Awaited, awaited
from memstore.history.erasure import ErasurePlan
from memstore.history.reverting import Plan

if TYPE_CHECKING:
    from memstore.domain.erasures import ErasureCounts, ErasureStep
    from memstore.domain.plans import PlanConflict, Step


class AsyncPlan(Awaited[Plan]):
    """:class:`Plan` for asyncio: the same, with :meth:`apply` as a coroutine."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.lines: tuple[int, ...] = plan.lines
        self.steps: tuple[Step, ...] = plan.steps
        self.conflicts: tuple[PlanConflict, ...] = plan.conflicts
        self.missing: tuple[str, ...] = plan.missing
        self.digest: str = plan.digest

    def __repr__(self) -> str:
        return f"Async{self._blocking!r}"

    def __bool__(self) -> bool:
        """Whether there is anything to do or to decide."""
        return bool(self._blocking)

    def to_dict(self) -> dict[str, Any]:
        return self._blocking.to_dict()

    apply = awaited(Plan.apply)


class AsyncErasurePlan(Awaited[ErasurePlan]):
    """:class:`ErasurePlan` for asyncio: the same, with :meth:`apply` as a coroutine.

    A cancelled ``apply`` returns at once; its thread completes what it has begun.
    """

    def __init__(self, plan: ErasurePlan) -> None:
        super().__init__(plan)
        self.fact_ids: tuple[int, ...] = plan.fact_ids
        self.episode_ids: tuple[int, ...] = plan.episode_ids
        self.steps: tuple[ErasureStep, ...] = plan.steps
        self.stays: tuple[ErasureStep, ...] = plan.stays
        self.counts: ErasureCounts = plan.counts
        self.copies: tuple[str, ...] = plan.copies
        self.graphs: tuple[str, ...] = plan.graphs
        self.digest: str = plan.digest

    def __repr__(self) -> str:
        return f"Async{self._blocking!r}"

    def __bool__(self) -> bool:
        """Whether anything goes."""
        return bool(self._blocking)

    def to_dict(self) -> dict[str, Any]:
        return self._blocking.to_dict()

    apply = awaited(ErasurePlan.apply)
