"""What would make a dearer option win beside its own terms: more power or racks at a site, or better evidence.

The change is made in the scenario, so the plan may use it too: an option wins when its best plan is as good as the best
plan of the changed scenario, both solved again, and no dearer than the plan as it stands.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import ceil

from optimizer.analysis.bench import Bench
from optimizer.analysis.switch import Forced, WinIf
from optimizer.candidates.result import ModesResult
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.engine.bands import Bands, Quantiles
from optimizer.engine.efficiency import efficiency
from optimizer.schema.architecture import Architecture
from optimizer.schema.base import EvidenceLevel
from optimizer.schema.platform import Platform, PlatformEvidence
from optimizer.schema.scenario import PowerStep, Site
from optimizer.solver.assemble import priced
from optimizer.solver.planner import NOISE, Inputs, Modes, Prepared, prepare
from optimizer.solver.relax import AMPLE_KW, PLENTY_OF_RACKS
from optimizer.solver.usage import installed_kw

LESS_KW = Decimal("0.001")
"""A power is the smallest found when this much less does not win: one watt."""

MOST_TRIALS = 8
"""Most powers, or rack positions, tried after the first that wins; each is solved again, so all of them hold."""

SITUATION = "pilot"
"""Situation of ``models/bands.yaml`` that a calibrated pilot gives."""

LEVELS = (EvidenceLevel.PUBLIC_RUN, EvidenceLevel.PILOT_MULTI_NODE)
"""Levels that change a band: runs of this size (no longer beyond the evidence), then a calibrated pilot."""


@dataclass(frozen=True)
class Rivals:
    """An option and the plan it has to beat.

    Attributes:
        bench: The scenario.
        narrow: Makes a problem one of the plans that take the option.
        forced: The option with its best plan today.
        undecided: Changes of which it was not proven whether the option wins.
    """

    bench: Bench
    narrow: Callable[[Prepared], Prepared]
    forced: Forced
    undecided: list[Inputs] = field(default_factory=list)

    def winner(self, inputs: Inputs, known: Modes | None = None) -> Choice | None:
        """Return the option's best plan in changed inputs where it wins there, proven; else None."""
        prepared = prepare(inputs, known or self.bench.known)
        own = self.narrow(prepared)
        found = self.bench.decide(own) if own.problem.profiles else None
        if found is None or found.status == "infeasible":
            return None
        value = None if found.choice is None else priced(found.choice, inputs.frame).npv
        if value is None or value > self.forced.target:
            self.undecided.extend([inputs] if found.status != "optimal" else [])
            return None
        best = self.bench.decide(prepared)
        if best.status != "optimal" or best.choice is None:
            self.undecided.append(inputs)
            return None
        least = priced(best.choice, inputs.frame).npv
        return found.choice if value <= least + NOISE * abs(least) else None

    def with_sets(self, sets: Sequence[str]) -> Choice | None:
        """Return the option's best plan where some ``--set`` changes make it win."""
        return self.winner(self.bench.changed(sets))


def winning_sites(rivals: Rivals) -> Iterator[WinIf]:
    """Yield for each site the least power, and for each zone the fewest racks, with which the option wins."""
    for name, site in rivals.forced.frame.scenario.sites.items():
        found = _power(rivals, name, site)
        if found is not None:
            yield found
        for zone, room in (site.zones or {}).items():
            change = _racks(rivals, name, zone, room.racks)
            if change is not None:
                yield change


def _power(rivals: Rivals, name: str, site: Site) -> WinIf | None:
    """Return the least power from the latest step of a site on that makes the option win."""
    steps = site.power or ()
    for place in reversed(range(len(steps))):

        def trial(kw: Decimal, place: int = place) -> Choice | None:
            return rivals.with_sets([_raised(name, steps, place, kw)])

        choice = trial(Decimal(AMPLE_KW))
        if choice is not None:
            step = steps[place]
            kw = _least_power(trial, choice, rivals.forced.frame, name, step)
            text = _raised(name, steps, place, kw)
            return WinIf(what="power", from_=step.kw, to=kw, unit=f"kW at {name} from {step.from_}", set=text)
    return None


def _raised(name: str, steps: Sequence[PowerStep], place: int, kw: Decimal) -> str:
    """Return the ``--set`` argument that gives a site a power from a step on, where it has less."""
    rows = [(step.from_, max(step.kw, kw) if rank >= place else step.kw) for rank, step in enumerate(steps)]
    return f"sites.{name}.power=[" + ", ".join(f"{{from: {day}, kw: {most.normalize():f}}}" for day, most in rows) + "]"


def _least_power(
    trial: Callable[[Decimal], Choice | None], choice: Choice, frame: Frame, name: str, step: PowerStep
) -> Decimal:
    """Return the least power that wins: what a winning plan draws, until a watt less does not win."""
    low, high = step.kw, _drawn(choice, name, step.from_, frame)
    for _ in range(MOST_TRIALS // 2):
        if high - LESS_KW <= low:
            break
        less = trial(high - LESS_KW)
        if less is None:
            break
        high = _drawn(less, name, step.from_, frame)
        middle = ((low + high) / 2).quantize(LESS_KW)
        half = trial(middle) if low < middle < high else None
        low, high = (middle, high) if half is None else (low, _drawn(half, name, step.from_, frame))
    return high


def _drawn(choice: Choice, site: str, first: dt.date, frame: Frame) -> Decimal:
    """Return the most power a plan needs at a site from a day on, kW."""
    lots = {lot.delivery for award in choice.taken if award.option.site == site for lot in award.option.lots}
    return max(installed_kw(choice, site, day, frame) for day in {first, *(day for day in lots if day >= first)})


def _racks(rivals: Rivals, site: str, zone: str, stated: int) -> WinIf | None:
    """Return the fewest racks of a zone with which the option wins."""
    key = f"sites.{site}.zones.{zone}.racks"
    choice = rivals.with_sets([f"{key}={PLENTY_OF_RACKS}"])
    if choice is None:
        return None
    here = [award for award in choice.taken if award.option.site == site]
    most = sum(award.units * ceil(award.option.platform.space.racks or 1) for award in here)
    low, high = stated, max(stated + 1, most)
    if rivals.with_sets([f"{key}={high}"]) is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rivals.with_sets([f"{key}={middle}"]) is None else (low, middle)
    return WinIf(
        what="racks", from_=Decimal(stated), to=Decimal(high), unit=f"racks in {site}/{zone}", set=f"{key}={high}"
    )


def winning_evidence(rivals: Rivals) -> WinIf | None:
    """Return the first level of evidence of the option's platforms at this size with which it wins; None when none does.

    Runs of this size end the widening beyond the evidence, or make a mixture of experts a model that was seen. A pilot
    gives its own band around today's median: it is assumed to confirm the median, not to move it.
    """
    inputs = rivals.bench.inputs
    own = {inputs.frame.quotes[quote].offers[name].platform for quote, name in rivals.forced.offers}
    runs = [run.candidate for run in rivals.forced.choice.runs if run.candidate.platform in own]
    levels = [EvidenceLevel(run.evidence) for run in runs if run.layout is not None]
    models = [inputs.architectures[w.architecture] for w in inputs.frame.scenario.workloads.values() if w.architecture]
    if not levels:
        return None
    today = min(levels, key=lambda level: level.rank)
    names = {run.platform for run in runs}
    for level in LEVELS:
        changed = _evidenced(inputs, names, models, level) if level.rank > today.rank else None
        known = None if changed is None else _Evidenced(rivals.bench.known, inputs, names)
        if changed is not None and rivals.winner(changed, known) is not None:
            unit = f"evidence level of {', '.join(sorted(names))} at this precision and size"
            return WinIf(what="evidence", from_=today.value, to=level.value, unit=unit)
    return None


class _Evidenced(Modes):
    """Modes where some platforms have other evidence; those of the others are the known ones."""

    def __init__(self, known: Modes, inputs: Inputs, names: Collection[str]) -> None:
        super().__init__(known.store)
        self._others, self._inputs, self._names = known, inputs, names

    def of(self, inputs: Inputs, name: str, platform: Platform, most_nodes: int) -> ModesResult:
        """Return the modes of a workload on a platform up to a node count."""
        if platform.id in self._names:
            return super().of(inputs, name, platform, most_nodes)
        return self._others.of(self._inputs, name, platform, most_nodes)


def _evidenced(inputs: Inputs, names: Iterable[str], models: Sequence[Architecture], level: EvidenceLevel) -> Inputs:
    """Return the inputs with runs of any size at a level on some platforms."""
    frame, bands = inputs.frame, inputs.bands
    cards = dict(frame.platforms)
    for name in names:
        cards[name], bands = _seen(cards[name], bands, models, level)
    return replace(inputs, frame=Frame(frame.scenario, cards, frame.quotes), bands=bands)


def _seen(card: Platform, bands: Bands, models: Sequence[Architecture], level: EvidenceLevel) -> tuple[Platform, Bands]:
    """Return a platform with runs of any size at a level, and the bands with those it then names."""
    situations = efficiency(card).bands
    runs = [PlatformEvidence(precision=precision, level=level, source="explain") for precision in situations]
    experts = [
        {"precision": run.precision, "level": level, "architecture": model.id, "source": "explain"}
        for model in models
        if model.moe is not None
        for run in runs
    ]
    shares = {**card.efficiency, "experts": [*card.efficiency.get("experts", ()), *experts]}
    if level is EvidenceLevel.PILOT_MULTI_NODE:
        shares["bands"] = {precision: f"{SITUATION}, median of {own}" for precision, own in situations.items()}
        added = {f"{SITUATION}, median of {own}": _around(bands, own) for own in situations.values()}
        bands = bands.model_copy(update={"situations": bands.situations | added})
    return card.model_copy(update={"evidence": (*card.evidence, *runs), "efficiency": shares}), bands


def _around(bands: Bands, name: str) -> Quantiles:
    """Return the band of a pilot around the median of a situation."""
    pilot, middle = bands.of(SITUATION), bands.of(name).p50
    scaled = {key: getattr(pilot, key) / pilot.p50 * middle for key in ("p10", "p50", "p90")}
    return Quantiles(**scaled, note=pilot.note)
