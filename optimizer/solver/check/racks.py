"""Whether units of several platforms fit in the racks of several zones: an exact small search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, floor

from optimizer.schema.platform import Platform
from optimizer.schema.scenario import Zone
from optimizer.solver.check.case import exact
from optimizer.solver.check.hall import unit_kw

RACK_HEIGHT = 42
"""Rack units of a rack, by convention of the plan format."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How the units of a platform fit in a zone.

    Attributes:
        units: Units one group of rack positions takes; 0 when the zone cannot take the platform.
        positions: Rack positions of a group: 1, or the racks of a rack-scale unit.
        limit: Why ``units`` is 0: ``cooling`` or ``rack_power``; empty otherwise.
    """

    units: int
    positions: int
    limit: str = ""


def fit(platform: Platform, zone: Zone) -> Fit:
    """Return how a platform fits in a zone: by cooling class, height and power of a rack."""
    space, kw = platform.space, unit_kw(platform)
    if zone.cooling not in space.cooling:
        return Fit(0, 1, "cooling")
    if space.racks is not None:
        positions = ceil(exact(space.racks))
        enough = zone.kw_per_rack >= kw / positions
        return Fit(1, positions) if enough else Fit(0, positions, "rack_power")
    by_height = space.units_per_rack_max or floor(RACK_HEIGHT / exact(space.rack_units or 1))
    by_power = floor(zone.kw_per_rack / kw)
    return Fit(min(by_height, by_power), 1, "" if by_power else "rack_power")


def excess(units: Iterable[tuple[Platform, int]], zones: Mapping[str, Zone]) -> str:
    """Return the limit that does not hold, ``racks``, ``rack_power`` or ``cooling``; empty when all units fit."""
    needs: list[Need] = []
    for platform, count in units:
        fits = tuple(fit(platform, zone) for zone in zones.values())
        if not any(each.units for each in fits):
            return "rack_power" if any(each.limit == "rack_power" for each in fits) else "cooling"
        needs.append(Need(count, fits))
    needs.sort(key=lambda need: sum(each.units > 0 for each in need.fits))  # least choice first
    return "" if _place(*_merged(needs, [zone.racks for zone in zones.values()])) else "racks"


def fewest(units: Iterable[tuple[Platform, int]], zones: Mapping[str, Zone]) -> int:
    """Return the rack positions that hold the units when each platform fills its densest zones first.

    Exact for one platform; several that want the same zone may need more.
    """
    return sum(_fewest(platform, count, zones) for platform, count in units)


def _fewest(platform: Platform, left: int, zones: Mapping[str, Zone]) -> int:
    fits = sorted(((fit(platform, zone), zone.racks) for zone in zones.values()), key=lambda pair: -_per_rack(pair[0]))
    positions = 0
    for each, racks in fits:
        if not each.units or left <= 0:
            continue
        groups = min(racks // each.positions, -(-left // each.units))
        positions, left = positions + groups * each.positions, left - groups * each.units
    return positions


@dataclass(frozen=True, slots=True)
class Need:
    """Units of a platform to be placed, and how they fit in each zone."""

    units: int
    fits: tuple[Fit, ...]

    def most(self, free: tuple[int, ...]) -> int:
        """Return the units that fit in the free racks of the zones when nothing else does."""
        return sum(each.units * (left // each.positions) for each, left in zip(self.fits, free, strict=True))


def _merged(needs: list[Need], racks: list[int]) -> tuple[list[Need], tuple[int, ...]]:
    """Join zones that are alike for every platform, except for units of several racks: none may span two zones."""
    columns: dict[object, tuple[list[Fit], int]] = {}
    for zone, count in enumerate(racks):
        column = [need.fits[zone] for need in needs]
        alone = any(each.positions > 1 for each in column)
        key = zone if alone else tuple(column)
        columns[key] = (column, columns[key][1] + count if key in columns else count)
    fits = [tuple(column[row] for column, _ in columns.values()) for row in range(len(needs))]
    joined = [Need(need.units, each) for need, each in zip(needs, fits, strict=True)]
    return joined, tuple(count for _, count in columns.values())


def _place(needs: list[Need], racks: tuple[int, ...]) -> bool:
    """Return whether the platforms fit one after the other in the free racks of the zones."""

    @cache
    def place(index: int, free: tuple[int, ...]) -> bool:
        if index == len(needs):
            return True
        if any(need.most(free) < need.units for need in needs[index:]) or _too_many(needs[index:], free):
            return False
        first = needs[index]
        return index == len(needs) - 1 or any(place(index + 1, rest) for rest in _spread(first.units, first.fits, free))

    return place(0, racks)


def _too_many(needs: list[Need], free: tuple[int, ...]) -> bool:
    """Return whether all platforms together need more than the racks hold, by units and by share of a rack.

    For any weight of a platform's units, a zone holds at most racks x the largest weight of a full rack.
    """
    densest = [max(_per_rack(each) for each in need.fits) for need in needs]
    for weights in ([Fraction(1)] * len(needs), [1 / each for each in densest]):
        weighed = list(zip(weights, needs, strict=True))
        holds = sum(
            left * max(weight * _per_rack(need.fits[zone]) for weight, need in weighed)
            for zone, left in enumerate(free)
        )
        if holds < sum(weight * need.units for weight, need in weighed):
            return True
    return False


def _per_rack(each: Fit) -> Fraction:
    return Fraction(each.units, each.positions)


def _spread(count: int, fits: tuple[Fit, ...], free: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the racks left over by each way to spread some units over the zones, without needless racks."""
    if not free:
        if count <= 0:
            yield ()
        return
    first, others = fits[0], fits[1:]
    most = min(free[0] // first.positions, -(-max(count, 0) // first.units)) if first.units else 0
    for groups in range(most + 1):
        for rest in _spread(count - groups * first.units, others, free[1:]):
            yield (free[0] - groups * first.positions, *rest)
