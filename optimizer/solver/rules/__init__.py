"""The registry of rules: everything a plan must obey, each in one function that adds rows to the model.

A new rule is one entry in ``RULES`` and its counterpart in ``solver/check``. Kinds: ``offer`` (inside one award),
``pool`` (capacity of one pool), ``shared`` (limits that pools share), ``money`` (bookings and budgets).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from optimizer.solver.rules import capacity, money, policy, quantities, shared_costs, site, together, value
from optimizer.solver.variables import Builder


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        name: Name in dumps.
        kind: Where it acts.
        limit: The user's limit it enforces; None for structure and money.
        add: Adds its rows and bookings; does nothing where it does not apply.
    """

    name: str
    kind: Literal["offer", "pool", "shared", "money"]
    limit: str | None
    add: Callable[[Builder], None]


RULES: tuple[Rule, ...] = (
    Rule("one_run", "pool", "deadline", capacity.one_run),
    Rule("last_run", "pool", None, together.last_run),
    Rule("precedence", "shared", "deadline", together.precedence),
    Rule("follow", "shared", None, together.follow),
    Rule("one_order", "offer", None, quantities.one_order),
    Rule("quantity", "offer", "minimum_order", quantities.quantity),
    Rule("signed", "offer", None, quantities.signed),
    Rule("fill", "offer", None, quantities.fill),
    Rule("pool_use", "pool", None, capacity.pool_use),
    Rule("cover", "pool", "supply", capacity.cover),
    Rule("hourly", "pool", None, capacity.hourly),
    Rule("share", "pool", "supply", together.share),
    Rule("hired_supply", "pool", "supply", together.hired_supply),
    Rule("dedicated", "pool", None, capacity.dedicated),
    Rule("fabric", "pool", "fabric", capacity.fabric),
    Rule("power", "shared", "power", site.power),
    Rule("racks", "shared", "racks", site.racks),
    Rule("vendors", "shared", "vendors", policy.vendors),
    Rule("second_source", "shared", "second_source", policy.second_source),
    Rule("award_money", "money", None, money.awards),
    Rule("run_money", "money", None, money.runs),
    Rule("counted_costs", "money", None, shared_costs.counted),
    Rule("shared_costs", "money", None, shared_costs.shared),
    Rule("run_costs", "money", None, shared_costs.per_run),
    Rule("after_run_use", "money", None, value.use),
    Rule("budget", "shared", "budget", money.budget),
)
"""All rules, in the order their rows are added."""
