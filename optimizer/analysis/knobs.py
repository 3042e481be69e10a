"""Settings that can be turned one step after another until a scenario has a plan: what ``--set`` would change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import ceil

from optimizer.analysis.bench import Bench
from optimizer.cost.frame import Frame
from optimizer.results import Figure, LimitName, Relaxation
from optimizer.schema.base import EvidenceLevel
from optimizer.schema.quote import BlockOffer, Offer
from optimizer.schema.scenario import Zone
from optimizer.solver.offers import rack_kw, units_per_rack
from optimizer.solver.relax import Lever

SHARE_STEPS = 10_000
"""A share is given back in hundredths of a per cent."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting of a limit.

    Attributes:
        limit: The limit.
        key: Dotted path of the setting.
        unit: Unit of its values.
        stated: What the scenario says.
        values: Looser and looser values.
        needed: The value that is probably the first to work; None when nothing is known.
        text: How a value is written; None = as it is.
    """

    limit: LimitName
    key: str
    unit: str
    stated: Figure
    values: Sequence[Figure]
    needed: Figure = None
    text: str | None = None

    def set(self, value: Figure) -> str:
        """Return the ``--set`` argument of a value."""
        plain = f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
        return f"{self.key}={self.text if self.text is not None else plain}"

    def relaxation(self, value: Figure) -> Relaxation:
        """Return the change to a value, verified."""
        return Relaxation(limit=self.limit, from_=self.stated, to=value, unit=self.unit, set=self.set(value))


def least(knob: Knob, bench: Bench, also: Sequence[str] = (), free: Collection[Lever] = ()) -> Relaxation | None:
    """Return the smallest change of a setting that gives a plan, proven by solving again; None when none does.

    Args:
        knob: The setting.
        bench: The scenario.
        also: Other changes made with it.
        free: Limits lifted meanwhile.
    """

    def works(place: int) -> bool:
        return bool(bench.feasible([*also, knob.set(knob.values[place])], free))

    low, high = 0, len(knob.values) - 1
    if high < 0 or not works(high):
        return None
    if knob.needed in knob.values:
        low, high = _narrowed(list(knob.values).index(knob.needed), high, works)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle + 1, high)
    return knob.relaxation(knob.values[high])


def _narrowed(place: int, last: int, works: Callable[[int], bool]) -> tuple[int, int]:
    """Return where the first value that works lies, after trying the expected one and the one before."""
    if not works(place):
        return place + 1, last
    if place and works(place - 1):
        return 0, place - 1
    return place, place


def knobs(limit: LimitName, frame: Frame, lacking: Decimal | None) -> list[Knob]:
    """Return the settings of a limit.

    Args:
        limit: The limit.
        frame: The scenario.
        lacking: What is missing of it as a measure of the whole scenario says, in its unit; None when unknown.
    """
    turn = TURNED.get(limit)
    return list(turn(frame, lacking or Decimal(0))) if turn else []


_Settings = Callable[[Frame, Decimal], Iterator[Knob]]

MOST_RACKS = 4096
"""Racks a zone is given at most: one for each node of the largest run considered would be twice that."""


def _zones(frame: Frame) -> Iterator[tuple[str, Zone]]:
    for site, facts in frame.scenario.sites.items():
        for zone, room in (facts.zones or {}).items():
            yield f"sites.{site}.zones.{zone}", room


def _racks(frame: Frame, lacking: Decimal) -> Iterator[Knob]:
    for path, zone in _zones(frame):
        values = range(zone.racks + 1, zone.racks + MOST_RACKS)
        yield Knob("racks", f"{path}.racks", "racks", *_counted(zone.racks, values, lacking))


def _counted(stated: int, values: Iterable[int], lacking: Decimal) -> tuple[Decimal, list[Figure], Figure]:
    listed: list[Figure] = [Decimal(value) for value in values]
    return Decimal(stated), listed, Decimal(stated + ceil(lacking))


def _rack_power(frame: Frame, _: Decimal) -> Iterator[Knob]:
    """More power in a rack helps where one more unit fits, or the first."""
    for path, zone in _zones(frame):
        values = set()
        for card in frame.platforms.values():
            if card.node_power_kw.provisioned is not None and zone.cooling in (card.space.cooling or ()):
                ample = zone.model_copy(update={"kw_per_rack": Decimal(10**6)})
                values |= {count * rack_kw(card) for count in range(1, units_per_rack(card, ample) + 1)}
        looser = sorted(value for value in values if value > zone.kw_per_rack)
        yield Knob("rack_power", f"{path}.kw_per_rack", "kW per rack", zone.kw_per_rack, looser)


def _cooling(frame: Frame, _: Decimal) -> Iterator[Knob]:
    for path, zone in _zones(frame):
        other = "liquid" if zone.cooling == "air" else "air"
        yield Knob("cooling", f"{path}.cooling", "class", zone.cooling, [other])


def _offers(frame: Frame) -> Iterator[tuple[str, Offer, int]]:
    """Yield path, offer and nodes per unit of every offer."""
    for name, quote in sorted(frame.quotes.items()):
        for own, offer in sorted(quote.offers.items()):
            yield f"quotes.{name}.offers.{own}", offer, frame.platforms[offer.platform].nodes_per_unit


MOST_UNITS = 2048
"""Units an offer is raised to at most: the largest run considered has 16,384 accelerators."""


def _supply(frame: Frame, lacking: Decimal) -> Iterator[Knob]:
    for path, offer, nodes in _offers(frame):
        stated, step = offer.units.max, offer.units.step
        if stated is not None:
            first = max(stated // step * step + step, offer.units.min)
            missing = Decimal(ceil(lacking / nodes / step) * step)
            values = range(first, max(MOST_UNITS, 2 * first), step)
            counted = _counted(stated // step * step, values, missing)
            yield Knob("supply", f"{path}.units.max", "units", Decimal(stated), *counted[1:])


def _fabric(frame: Frame, lacking: Decimal) -> Iterator[Knob]:
    for path, offer, nodes in _offers(frame):
        stated = offer.fabric_max_units
        if stated is not None:
            values = range(stated + 1, max(MOST_UNITS, 2 * stated))
            yield Knob("fabric", f"{path}.fabric_max_units", "units", *_counted(stated, values, lacking / nodes))


def _block_length(frame: Frame, lacking: Decimal) -> Iterator[Knob]:
    for path, offer, _nodes in _offers(frame):
        if isinstance(offer, BlockOffer):
            place, row = max(enumerate(offer.days), key=lambda entry: entry[1].to)
            values = range(row.to // row.step * row.step + row.step, row.to + 3660, row.step)
            yield Knob("block_length", f"{path}.days.{place}.to", "days", *_counted(row.to, values, lacking))


def _vendors(frame: Frame, lacking: Decimal) -> Iterator[Knob]:
    most = frame.scenario.policy.vendors.max
    if most is not None:
        vendors = len({quote.vendor for quote in frame.quotes.values()})
        yield Knob("vendors", "policy.vendors.max", "vendors", *_counted(most, range(most + 1, vendors + 1), lacking))


def _second_source(frame: Frame, _: Decimal) -> Iterator[Knob]:
    stated = Decimal(frame.scenario.policy.vendors.second_source_share)
    values = [Decimal(step) / SHARE_STEPS for step in range(ceil(stated * SHARE_STEPS) - 1, -1, -1)]
    yield Knob(
        "second_source", "policy.vendors.second_source_share", "share outside the largest vendor", stated, values
    )


def _evidence(frame: Frame, _: Decimal) -> Iterator[Knob]:
    levels = sorted(EvidenceLevel, key=lambda level: level.rank)
    weaker: list[tuple[EvidenceLevel, EvidenceLevel]] = list(pairwise(levels))
    stated = [(f"workloads.{name}", work.minimum_evidence) for name, work in frame.scenario.workloads.items()]
    for path, level in [*stated, ("policy", frame.scenario.policy.minimum_evidence)]:
        if level is not None:
            values: list[Figure] = [below.value for below, above in reversed(weaker) if above.rank <= level.rank]
            yield Knob("evidence", f"{path}.minimum_evidence", "evidence level", level.value, values)


def _expired(frame: Frame, _: Decimal) -> Iterator[Knob]:
    yield Knob("expired", "policy.allow_expired_quotes", "", "false", ["true"])


def _policy(frame: Frame, _: Decimal) -> Iterator[Knob]:
    """Allow one name that is denied, or budgetary quotes."""
    policy = frame.scenario.policy
    if not policy.allow_budgetary_quotes:
        yield Knob("policy", "policy.allow_budgetary_quotes", "", "false", ["true"])
    platforms = {offer.platform for _, offer, _ in _offers(frame)}
    vendors = {quote.vendor for quote in frame.quotes.values()}
    for key, names, known in (
        ("policy.platforms", policy.platforms, platforms),
        ("policy.vendors", policy.vendors, vendors),
    ):
        for name in sorted(name for name in known if not names.permits(name)):
            if name in names.deny:
                text = _flow(other for other in names.deny if other != name)
                yield Knob("policy", f"{key}.deny", "", f"{name} denied", [f"{name} allowed"], text=text)
            else:
                text = _flow([*(names.allow or ()), name])
                yield Knob("policy", f"{key}.allow", "", f"{name} not listed", [f"{name} allowed"], text=text)


def _flow(names: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


TURNED: dict[LimitName, _Settings] = {
    "racks": _racks,
    "rack_power": _rack_power,
    "cooling": _cooling,
    "supply": _supply,
    "fabric": _fabric,
    "block_length": _block_length,
    "vendors": _vendors,
    "second_source": _second_source,
    "evidence": _evidence,
    "expired": _expired,
    "policy": _policy,
}
"""Settings of each limit that is turned step by step; the others are measured (``solver.requirement``)."""
