"""The command that takes back what an episode, a source, a run or an hour did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.plans import UNDO
from memstore.faces.cli import command as cli
from memstore.faces.escaping import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from memstore.domain.plans import Step
    from memstore.history.reverting import Plan
    from memstore.store.store import Store


@cli.command(
    "revert",
    "memstore revert --source web:example.org --since 1h\n"
    "memstore revert --actor claude-code --since yesterday --until yesterday\n"
    "memstore revert --episode 12 --yes\n"
    "memstore revert --line 40 --line 41 --undo 7",
    cli.option(
        "--episode ID", "what an episode caused, and the facts drawn from it", type=cli.count
    ),
    cli.option("--source NAME", "what came through a program or from a source, such as web:x"),
    cli.option(
        "--run-uuid UUID",
        "what one opening of the file or one session did, as the journal names it",
    ),
    cli.option("--actor NAME", "what this person or program did"),
    cli.option("--since TIME", "what was done since then: a time, a day, yesterday, 2h, op:LINE"),
    cli.option("--until TIME", "what was done up to then; a day, up to its end"),
    cli.option(
        "--line N",
        "a line of the journal; may be repeated",
        dest="lines",
        type=cli.count,
        action="append",
    ),
    cli.option(
        "--act N",
        "all that one act did, by its number in memstore log; may be repeated",
        dest="acts",
        type=cli.count,
        action="append",
    ),
    cli.option(
        "--undo ID",
        "take a conflict back all the same; may be repeated",
        dest="decided",
        type=cli.fact_id,
        action="append",
        default=[],
    ),
    cli.YES,
    *cli.WHOSE,
    usage="[--episode ID] [--source NAME] [--since TIME] [--until TIME] [--yes] [options]",
)
def _revert(store: Store, arguments: argparse.Namespace, show: cli.Show) -> int | None:
    plan = cli.owned(store, arguments).ledger.revert(
        **cli.given(arguments, "episode source actor since until lines acts"),
        run=arguments.run_uuid,
    )
    decide = dict.fromkeys(arguments.decided, UNDO)
    if not plan:
        show.rows([], plan.to_dict())
        cli.draw_nothing(store, arguments, show, _nothing(plan), "fact")
        return None
    code = cli.settled(
        show,
        lambda: [*_rows(plan, decide)],
        plan.to_dict(),
        lambda: f"Take back {counted(len(plan.lines), 'change')}?",
        is_agreed=arguments.yes,
    )
    if code is not None:
        return code
    done = plan.apply(decide=decide)
    back = " ".join(f"--line {line}" for line in done.lines[:MAX_LINES])
    value = plan.to_dict() | {"done": done.to_dict()}
    told = f"did {counted(len(done.steps), 'step')}"
    if done.lines:
        many = len(done.lines) > MAX_LINES
        told += f", in act {done.act}" if many else f"; memstore revert {back} takes it back"
    show.done(told, value)
    if left := len(plan.conflicts) - len(decide):
        show.note(f"left alone: {counted(left, 'conflict')}; --undo ID takes one back")
    return None


def _nothing(plan: Plan) -> str:
    """Say why a plan is empty."""
    told = list(plan.missing[:MAX_LINES])
    if (more := len(plan.missing) - len(told)) > 0:
        told.append(f"and {more:,} more")
    return "; ".join(["nothing to take back", *told])


MAX_LINES: Final = 8
"""Lines that are named one by one."""


def _rows(plan: Plan, decide: dict[int, str]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each step and conflict: the fact, what happens to it, and its reason."""
    for step in plan.steps:
        yield _row(step, step.reason)
    for conflict in plan.conflicts:
        if conflict.fact_id in decide:
            yield from (_row(step, conflict.reason) for step in conflict.steps)
            continue
        would = "; ".join(f"#{step.fact_id} {step.text}" for step in conflict.steps)
        stays = f"stays as it is (--undo {conflict.fact_id}: {would})"
        yield f"#{conflict.fact_id}", conflict.claim, stays, conflict.reason


def _row(step: Step, reason: str) -> tuple[Any, ...]:
    return f"#{step.fact_id}", step.claim, step.text, reason
