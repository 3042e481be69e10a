"""Analyses kept in a plan file under ``analyses``: each the JSON its command writes, so that reports can show them.

The key is the name of the command. Commands that answer one question at a time (``breakeven``, ``explain``) keep a list,
one entry per subject; asked again, the new answer takes the place of the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from optimizer.analysis.alternatives import Alternatives
from optimizer.analysis.breakeven import Breakeven
from optimizer.analysis.explain import Explanation
from optimizer.analysis.pareto import Pareto
from optimizer.analysis.risk import Risk
from optimizer.analysis.tornado import Sensitivity
from optimizer.errors import InputError, Problem
from optimizer.io.document import path_text
from optimizer.io.json_schema import json_schema
from optimizer.results import Baseline, Comparison, Conflict, InputFile, Plan, Result

Analysis = Alternatives | Breakeven | Comparison | Explanation | Pareto | Risk | Sensitivity
"""An answer that a plan can keep."""

_One = TypeVar("_One", Breakeven, Explanation)


def _unasked(empty: tuple[()] | None = None) -> Any:
    """Return a field that is left out of the file while nobody asked."""
    return Field(default=empty, exclude_if=lambda value: value == empty)


class Analyses(Result):
    """What was asked about a plan, by command; what was not asked is missing from the file."""

    baselines: tuple[Baseline, ...] = _unasked(())
    """What the plan saves against the obvious alternatives; ``solve`` writes it."""
    compare: Comparison | None = _unasked()
    """The best plan of every platform."""
    alternatives: Alternatives | None = _unasked()
    """Plans nearly as good."""
    explain: tuple[Explanation, ...] = _unasked(())
    """Why this plan, what one more unit is worth, why not another; one entry per question."""
    pareto: Pareto | None = _unasked()
    """Cost against finish date."""
    sensitivity: Sensitivity | None = _unasked()
    """The tornado, and the grid of two inputs."""
    breakeven: tuple[Breakeven, ...] = _unasked(())
    """Where the decision switches; one entry per quote, platform or input."""
    risk: Risk | None = _unasked()
    """Plans under uncertainty, and the value of information."""

    def with_(self, answer: Analysis) -> Analyses:
        """Return the analyses with one more answer, which replaces an earlier one to the same question."""
        if isinstance(answer, Breakeven):
            return self.model_copy(update={"breakeven": _joined(self.breakeven, answer)})
        if isinstance(answer, Explanation):
            return self.model_copy(update={"explain": _joined(self.explain, answer)})
        return self.model_copy(update={_command(answer): answer})


def _command(answer: Analysis) -> str:
    """Return the field whose type an answer has: the name of its command."""
    fields = Analyses.model_fields
    return next(name for name, field in fields.items() if type(answer) in getattr(field.annotation, "__args__", ()))


def _joined(known: Sequence[_One], answer: _One) -> tuple[_One, ...]:
    by_subject = {**{_subject(item): item for item in known}, _subject(answer): answer}
    return tuple(by_subject[subject] for subject in sorted(by_subject))


def _subject(item: Breakeven | Explanation) -> str:
    return item.question if isinstance(item, Explanation) else item.subject


def analyses_of(plan: Plan) -> Analyses:
    """Return the analyses that a plan carries.

    Raises:
        InputError: what stands under ``analyses`` was not written by these commands.
    """
    try:
        return Analyses.model_validate(plan.analyses)
    except ValidationError as error:
        expected = "Expected what the analysis commands write with --plan"
        raise InputError(
            Problem(f"analyses, {path_text(details['loc'])}", details["msg"], expected, "Run the command again")
            for details in error.errors(include_url=False)
        ) from None


def with_analysis(plan: Plan, answer: Analysis | Conflict, files: Sequence[InputFile]) -> Plan:
    """Return a plan that carries one more answer; the conflict of an infeasible one gets its smallest changes.

    Args:
        plan: The plan.
        answer: What was asked about it.
        files: Inputs of the answer; they must be those of the plan.

    Raises:
        InputError: the plan was made from other inputs, or carries analyses of another form.
    """
    refuse_other_inputs(plan, files)
    if isinstance(answer, Conflict):
        return plan.model_copy(update={"conflict": answer})
    kept = analyses_of(plan).with_(answer)
    return plan.model_copy(update={"analyses": kept.model_dump(by_alias=True)})


def refuse_other_inputs(plan: Plan, files: Sequence[InputFile]) -> None:
    """Refuse a plan that was made from other inputs than an answer.

    Raises:
        InputError: a file, or ``--set`` arguments, differ; all of them at once.
    """
    ours, theirs = ({file.sha256: file.path for file in group} for group in (files, plan.provenance.inputs))
    changed = [path for sha, path in ours.items() if sha not in theirs]
    gone = [path for sha, path in theirs.items() if sha not in ours and path not in changed]
    fix = "Solve again with --json, or give the scenario, --set and --library of the plan"
    problems = [Problem(f"--plan, {path}", "not what the plan was made from", "", fix) for path in changed]
    problems += [
        Problem(f"--plan, {path}", "the plan was made from it, this question is not", "", fix) for path in gone
    ]
    if problems:
        raise InputError(problems)


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan with its analyses, as the program writes them."""
    plan, kept = json_schema(Plan, written=True), json_schema(Analyses, written=True)
    records = {**kept.pop("$defs"), **plan["$defs"]}
    body = {key: value for key, value in kept.items() if key != "$schema"}
    properties = {**plan["properties"], "analyses": body}
    return {**plan, "properties": properties, "$defs": dict(sorted(records.items()))}
