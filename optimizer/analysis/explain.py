"""``explain``: why a scenario has no plan and the smallest changes; or why a platform, vendor or quote is not in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from optimizer.analysis.bench import Bench
from optimizer.analysis.gap import GapLine, gap_lines, present_values, total_gap
from optimizer.analysis.nodes import NodeNeed, why_nodes
from optimizer.analysis.reasons import ReasonGroup, grouped
from optimizer.analysis.relaxations import with_relaxations
from optimizer.analysis.switch import Forced, OfferKey, WinIf, winning_delivery, winning_price
from optimizer.analysis.winning import Rivals, winning_evidence, winning_sites
from optimizer.analysis.worth import Worth, worth_of_one_more
from optimizer.api import SolveOptions, load
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.errors import ClusterbuyError, InputError, Problem, did_you_mean
from optimizer.io.library import Library
from optimizer.io.loaded import Loaded
from optimizer.results import Conflict, Number, Rejection, Relaxation, Result
from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Scenario
from optimizer.solver.compare import only
from optimizer.solver.conflict import Probe, conflict_of
from optimizer.solver.planner import Prepared, refuse_unbounded
from optimizer.solver.plans import objective_unit, objective_value
from optimizer.solver.precheck import NOT_SEARCHED, impossible
from optimizer.solver.relax import RELAXATIONS
from optimizer.solver.why_not import hardest, missing_limit, why_not

SEARCHED = ("price", "delivery", "power", "racks", "evidence")
"""What may make a dearer option win, tried each alone."""


class UndecidedError(ClusterbuyError):
    """The time limit was reached before the question was answered (exit 5)."""

    exit_code = 5
    kind = "limit"


class Explanation(Result):
    """The answer of ``explain`` for a scenario that has a plan."""

    question: str
    """What was asked about; the plan itself when nothing was named."""
    answer: str
    """chosen, rejected or dearer."""
    gap: Number | None
    """What the best plan that takes it costs more, as net present value; None when it is rejected."""
    gap_lines: tuple[GapLine, ...]
    """The gap by cost line, present values: a the plan, b the best plan that takes it; they add up to the gap."""
    rejection: Rejection | None
    """The limit that rejects it."""
    would_win_if: tuple[WinIf, ...]
    """Dearer: changes that would make it win, each alone. Rejected: changes that would make it possible."""
    unit: str
    """Currency of the gap."""
    objective_gap: Number | None
    """How much worse the objective becomes; equals ``gap`` when cost is the objective."""
    objective_unit: str
    """Unit of the objective: the currency, days, or what capacity is counted in."""
    nodes: tuple[NodeNeed, ...] = ()
    """Why this many nodes (without a question)."""
    worth: tuple[Worth, ...] = ()
    """What one more unit of each limit is worth (on request)."""
    reasons: tuple[ReasonGroup, ...] = ()
    """What is not used and why, grouped, the most telling first (without a question)."""
    proven: bool = True
    """Whether the plan that is explained is proven to be the best."""
    searched: tuple[str, ...] = ()
    """Dearer: what was tried to make it win; nothing unless cost is the objective."""
    cut_short: bool = False
    """Dearer: of some change it was not proven, in time or at all, whether it makes it win."""
    conflict: Conflict | None = None
    """Rejected: the limits that leave no plan with it, as for a scenario without any plan."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about; nothing = the plan.

    Attributes:
        platform: Platform id.
        vendor: Vendor name.
        quote: Quote id, or quote/offer.
    """

    platform: str | None = None
    vendor: str | None = None
    quote: str | None = None

    @property
    def words(self) -> str:
        """The question in a few words."""
        named = [f"{kind} {name}" for kind, name in self._given()]
        return named[0] if named else "plan"

    def _given(self) -> list[tuple[str, str]]:
        pairs = (("platform", self.platform), ("vendor", self.vendor), ("quote", self.quote))
        return [(kind, name) for kind, name in pairs if name is not None]


def explain(
    scenario: str | Path | Scenario | Loaded,
    *,
    library: Library | None = None,
    sets: Sequence[str] = (),
    options: SolveOptions | None = None,
    question: Question | None = None,
    pinned: Collection[str] = (),
    worth: bool = False,
) -> Conflict | Explanation:
    """Return why a scenario has no plan, with the smallest changes; else why an option is, or is not, in its plan.

    Args:
        scenario: A scenario file, a scenario object, or a loaded scenario.
        library: Data; default the shipped library.
        sets: ``KEY=VALUE`` changes.
        options: How to solve.
        question: Platform, vendor or quote asked about.
        pinned: Limits that are not negotiable.
        worth: Whether to find what one more unit of each limit is worth.

    Raises:
        InputError: bad input, or a name that the scenario does not know.
        UndecidedError: the time limit was reached before there was an answer.
    """
    question = question or Question()
    bench = Bench(load(scenario, library, sets), options or SolveOptions())
    refuse_unbounded(bench.inputs.frame)
    _refuse_unknown(question, pinned, bench.inputs.frame)
    known = impossible(bench.inputs.frame)
    prepared = bench.prepared()
    found = bench.decide(prepared, unique=True) if known is None else NOT_SEARCHED
    if found.status == "infeasible":
        return _infeasible(prepared, bench, pinned, known)
    if found.choice is None:
        raise UndecidedError("no plan and no proof within the time limit; raise --time-limit")
    if question == Question():
        answer = _plan(found.choice, prepared, bench, worth=worth)
    else:
        answer = _asked(question, found.choice, prepared, bench, pinned)
    return answer.model_copy(update={"proven": found.status == "optimal"})


def _infeasible(prepared: Prepared, bench: Bench, pinned: Collection[str], known: Conflict | None) -> Conflict:
    """Return the conflict with its cures; what was known before any search where the effort ran out."""
    found = with_relaxations(conflict_of(bench.probe, prepared), bench, pinned)
    if not found.limits and known is None:
        raise UndecidedError("there is no plan, but which limits clash was not found in time; raise --time-limit")
    found = found if found.limits or known is None else known
    named = {limit.name for limit in found.limits}
    others = tuple(rejection for rejection in prepared.problem.rejections if rejection.limit not in named)
    return found.model_copy(update={"left_out": others, "cut_short": bench.settings.spent})


def _plan(choice: Choice, prepared: Prepared, bench: Bench, *, worth: bool) -> Explanation:
    """Explain the plan itself."""
    used = {run.candidate.platform for run in choice.runs}
    return Explanation(
        question="plan",
        answer="chosen",
        gap=Decimal(0),
        gap_lines=(),
        rejection=None,
        would_win_if=(),
        unit=bench.inputs.frame.scenario.currency,
        objective_gap=Decimal(0),
        objective_unit=objective_unit(prepared),
        nodes=why_nodes(choice, bench),
        worth=worth_of_one_more(choice, bench) if worth else (),
        reasons=grouped(prepared.problem.rejections, used),
    )


def _asked(
    question: Question, choice: Choice, prepared: Prepared, bench: Bench, pinned: Collection[str]
) -> Explanation:
    frame = bench.inputs.frame
    offers = _offers(question, frame)
    base = Explanation(
        question=question.words, answer="chosen", gap=Decimal(0), gap_lines=(), rejection=None, would_win_if=(),
        unit=frame.scenario.currency, objective_gap=Decimal(0), objective_unit=objective_unit(prepared),
    )  # fmt: skip
    if _is_chosen(question, offers, choice):
        return base
    if prepared.problem.several:  # what is asked about must carry them all: said, since some of them may well use it
        base = base.model_copy(update={"question": f"{question.words} for every run"})
    found = bench.decide(_narrowed(prepared, question, offers)) if prepared.problem.profiles else None
    if found is not None and found.choice is not None:
        return _dearer(base, question, offers, (choice, found.choice), prepared, bench)
    if found is not None and found.status == "unknown":
        raise UndecidedError("the question was not answered within the time limit; raise --time-limit")
    rejection = _rejection(question, offers, prepared, bench)
    return _rejected(base, rejection, question, offers, choice, prepared, bench, pinned)


def _rejected(
    base: Explanation,
    rejection: Rejection,
    question: Question,
    offers: frozenset[OfferKey],
    choice: Choice,
    prepared: Prepared,
    bench: Bench,
    pinned: Collection[str],
) -> Explanation:
    """Return what stands in the way, and the smallest changes with which the option is possible, each solved again."""
    own = bench.narrowed(_platforms(question, offers, bench.inputs.frame), None if question.platform else offers)
    known = own.probe.prepared(own.inputs.frame)
    conflict = with_relaxations(conflict_of(own.probe, known), own, pinned)
    changes = conflict.relaxations or conflict.joint
    best = objective_value(choice, prepared)

    def then(sets: Sequence[str]) -> Decimal | None:
        inputs = bench.changed(sets)
        changed = bench.prepared(inputs)
        found = bench.decide(_narrowed(changed, question, offers))
        return None if found.choice is None else objective_value(found.choice, changed) - best

    alone = bool(conflict.relaxations)
    gaps = [then([change.set]) for change in changes] if alone else [then([c.set for c in changes])] * len(changes)
    possible = tuple(_possible(change, gap, alone) for change, gap in zip(changes, gaps, strict=True))
    return base.model_copy(
        update={"answer": "rejected", "gap": None, "objective_gap": None, "rejection": rejection}
        | {
            "would_win_if": possible,
            "conflict": conflict.model_copy(update={"cut_short": bench.settings.spent}),
        }
    )


def _platforms(question: Question, offers: frozenset[OfferKey], frame: Frame) -> frozenset[str] | None:
    """Return the platforms every run must be on; None where runs beside the one asked about may be elsewhere."""
    if question.platform is not None:
        return frozenset({question.platform})
    if len(frame.scenario.workloads) > 1:
        return None
    return frozenset(frame.quotes[quote].offers[name].platform for quote, name in offers)


def _possible(change: Relaxation, gap: Decimal | None, alone: bool) -> WinIf:
    return WinIf(
        what=change.limit, from_=change.from_, to=change.to, unit=change.unit, set=change.set, alone=alone, then=gap
    )


def _is_chosen(question: Question, offers: frozenset[OfferKey], choice: Choice) -> bool:
    if question.platform is not None:
        return any(run.candidate.platform == question.platform for run in choice.runs)
    return any(taken.option.offer_key in offers for taken in choice.taken)


def _narrowed(prepared: Prepared, question: Question, offers: frozenset[OfferKey]) -> Prepared:
    """Return the problem whose plans use the platform, or take one of the offers."""
    if question.platform is not None:
        return Prepared(only(prepared.problem, question.platform), prepared.modes)
    platforms = {o.platform.id for o in prepared.problem.options if o.offer_key in offers}
    own = [profile for profile in prepared.problem.profiles if profile.pool.platform.id in platforms]
    return Prepared(replace(prepared.problem.keep(own), wanted=offers), prepared.modes)


def _dearer(
    base: Explanation,
    question: Question,
    offers: frozenset[OfferKey],
    choices: tuple[Choice, Choice],
    prepared: Prepared,
    bench: Bench,
) -> Explanation:
    frame = bench.inputs.frame
    values = [present_values(choice, frame) for choice in choices]
    lines = gap_lines(values[0], values[1], frame.scenario.currency)
    best, other = (objective_value(choice, prepared) for choice in choices)
    target = sum(values[0].values(), Decimal(0))

    def best_in(changed: Frame) -> Choice | None:
        inputs = bench.inputs.with_frame(changed)
        return bench.decide(_narrowed(bench.prepared(inputs), question, offers)).choice

    forced = Forced(offers, choices[1], frame, target, best_in)
    rivals = Rivals(bench, lambda problem: _narrowed(problem, question, offers), forced)
    by_cost = frame.scenario.objective == "cost"
    changes = _would_win_if(forced, rivals) if by_cost else ()
    return base.model_copy(
        update={
            "answer": "dearer",
            "gap": total_gap(lines),
            "gap_lines": tuple(line for line in lines if line.a or line.b),
            "objective_gap": total_gap(lines) if frame.scenario.objective == "cost" else abs(other - best),
            "would_win_if": changes,
            "searched": SEARCHED if by_cost else (),
            "cut_short": bench.settings.spent or bool(rivals.undecided),
        }
    )


def _would_win_if(forced: Forced, rivals: Rivals) -> tuple[WinIf, ...]:
    """Return the changes that each alone make an option win, every one solved again."""
    own = (winning_price(forced), winning_delivery(forced))
    found = (*own, *winning_sites(rivals), winning_evidence(rivals))
    return tuple(change for change in found if change is not None)


def _rejection(question: Question, offers: frozenset[OfferKey], prepared: Prepared, bench: Bench) -> Rejection:
    frame, problem = bench.inputs.frame, prepared.problem
    if question.platform is not None:
        own = Prepared(only(problem, question.platform), prepared.modes)
        return why_not(frame.platforms[question.platform], own, bench.inputs, bench.known, bench.settings)
    named = {"/".join(key) for key in offers}
    refused = [item for item in problem.rejections if item.quote in named]
    usable = offers - {(str(item.quote).split("/")[0], str(item.quote).split("/")[1]) for item in refused}
    platforms = sorted({frame.quotes[quote].offers[name].platform for quote, name in usable})
    found = [*refused, *(_of_platform(frame.platforms[name], usable, prepared, bench) for name in platforms)]
    chosen = hardest(found) or found[0]
    vendor = question.vendor or next(iter({frame.quotes[quote].vendor for quote, _ in offers}), None)
    return chosen.model_copy(update={"vendor": vendor, "quote": chosen.quote or question.quote})


def _of_platform(platform: Platform, offers: frozenset[OfferKey], prepared: Prepared, bench: Bench) -> Rejection:
    """Return why no plan takes one of the offers of a platform: its runs do not fit, or a limit leaves none."""
    own = Prepared(only(prepared.problem, platform.id), prepared.modes)
    if not own.problem.profiles:
        return why_not(platform, own, bench.inputs, bench.known, bench.settings)
    return missing_limit(platform, Probe(bench.inputs, bench.known, bench.settings, offers))


def _offers(question: Question, frame: Frame) -> frozenset[OfferKey]:
    """Return the offers a question is about."""
    quote, _, offer = (question.quote or "").partition("/")
    return frozenset(
        (name, own)
        for name, record in frame.quotes.items()
        for own, terms in record.offers.items()
        if question.platform in (None, terms.platform)
        and question.vendor in (None, record.vendor)
        and (question.quote is None or (name == quote and offer in ("", own)))
    )


def _refuse_unknown(question: Question, pinned: Collection[str], frame: Frame) -> None:
    """Refuse names that nothing has.

    Raises:
        InputError: with every such name, or when more than one thing is asked about.
    """
    vendors = sorted({quote.vendor for quote in frame.quotes.values()})
    offers = [f"{name}/{own}" for name, quote in sorted(frame.quotes.items()) for own in sorted(quote.offers)]
    known: tuple[tuple[str, str | None, list[str]], ...] = (
        ("--platform", question.platform, sorted(frame.platforms)),
        ("--vendor", question.vendor, vendors),
        ("--quote", question.quote, [*sorted(frame.quotes), *offers]),
        *(("--pin", name, [*map(str, RELAXATIONS)]) for name in pinned),
    )
    problems = [
        Problem(
            option, f'nothing named "{name}"', f"Expected one of {', '.join(names[:40])}", did_you_mean(name, names)
        )
        for option, name, names in known
        if name is not None and name not in names
    ]
    if sum(name is not None for name in (question.platform, question.vendor, question.quote)) > 1:
        problems.append(Problem("explain", "more than one question", "Expected --platform, --vendor or --quote"))
    if problems:
        raise InputError(problems)
