"""A small market with sums that can be done by hand: ten nodes for 100 days, from Ada or from Bob."""

from __future__ import annotations

from pathlib import Path

from optimizer.api import load
from optimizer.io.loaded import Loaded
from optimizer.schema.ranges import Assumed, Range, Ranges

SCENARIO = """
name: small
today: 2027-01-01
horizon_months: 12
currency: USD
workloads:
  train:
    modes:
      - {platform: h100-sxm, nodes: 10, days: 100, source: invented}
      - {platform: h100-sxm, nodes: 20, days: 50, source: invented}
    release: 2027-02-01
    deadline: 2027-05-31
sites:
  hall: {electricity: {per_kwh: 0}}
quotes: [quotes]
"""

QUOTE = """
quote: {name}
vendor: {vendor}
kind: binding
valid_until: 2027-12-31
currency: USD
offers:
  node: {{type: purchase, platform: h100-sxm, per: node, price: {price}, lead_weeks: [2, 4], units: {{max: 30}}}}
"""

HOURLY = """
quote: hour
vendor: Hourly
kind: list
valid_until: null
currency: USD
offers:
  now: {type: on_demand, platform: h100-sxm, region: west, per: accelerator_hour, price: 100, units: {max: 40}}
"""


def small(folder: Path, *sets: str, hourly: bool = False) -> Loaded:
    """Return the market: Ada's node at 100,000, Bob's at 120,000; with ``hourly``, dear capacity by the hour."""
    quotes = folder / "quotes"
    quotes.mkdir(exist_ok=True)
    for name, vendor, price in (("ada", "Ada", 100_000), ("bob", "Bob", 120_000)):
        (quotes / f"{name}.yaml").write_text(QUOTE.format(name=name, vendor=vendor, price=price), encoding="utf-8")
    if hourly:
        (quotes / "hour.yaml").write_text(HOURLY, encoding="utf-8")
    (folder / "small.yaml").write_text(SCENARIO, encoding="utf-8")
    return load(folder / "small.yaml", sets=sets)


def ranges(loaded: Loaded, low: float, high: float) -> Ranges:
    """Return the shipped ranges with another one for binding quotes."""
    span = Range(how="times", low=low, high=high, note="test", assumed=Assumed(by="test", date="2027-01-01"))
    return loaded.library.ranges.model_copy(update={"price_binding": span})


def two_runs(folder: Path, *sets: str) -> Loaded:
    """Return the market with a second run of 4 nodes for 20 days, or 8 for 10, after the first; due two months later."""
    small(folder)
    first = "    release: 2027-02-01\n    deadline: 2027-05-31\n"
    second = """\
    release: 2027-02-01
    deadline: 2027-07-31
  tune:
    modes:
      - {platform: h100-sxm, nodes: 4, days: 20, source: invented}
      - {platform: h100-sxm, nodes: 8, days: 10, source: invented}
    after: [train]
    deadline: 2027-09-30
"""
    (folder / "two.yaml").write_text(
        SCENARIO.replace(first, second).replace("name: small", "name: two"), encoding="utf-8"
    )
    return load(folder / "two.yaml", sets=sets)
