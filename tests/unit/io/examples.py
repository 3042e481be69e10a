"""A small scenario and a quote for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

SCENARIO = """\
currency: USD
today: 2026-11-30
quotes: [quotes]
workloads:
  pretrain:
    architecture: llama-3-1-8b
    tokens: 1e12
    sequence_length: 8192
    global_batch_tokens: 4e6
    extra_compute: 0.1
sites:
  hall-a:
    power: [{from: 2027-03-01, kw: 2600}, {from: 2027-07-01, kw: 3600}]
    electricity: {per_kwh: 0.085}
budget: {total: 150e6, by_fiscal_year: {"2027": 95e6}}
costs:
  - {name: network, per: accelerator, amount: {1: 4250, 2049: 6400}, every: once}
"""

QUOTE = """\
quote: acme-1
revision: 1
vendor: Acme
kind: binding
issued: 2026-11-01
valid_until: 2027-02-28
currency: USD
offers:
  node:
    type: purchase
    platform: h200-sxm
    per: node
    price: {all_units: {1: 300e3, 16: 290e3}}
    lead_weeks: [6, 8]
    sites: [hall-a]
  rent: {type: reserved, platform: h200-sxm, region: eu, per: accelerator_hour, price: 2.1, term_months: 12}
"""

Write = Callable[..., Path]
"""Writes both, with texts replaced, and returns the path of the scenario."""
