"""What must be done: workloads, sites, money, dates and policy of one question."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from optimizer.schema.base import (
    CurrencyCode,
    EvidenceLevel,
    Exact,
    Frozen,
    Id,
    Money,
    NonNegative,
    OfferType,
    Precision,
    Share,
)
from optimizer.schema.quote import Duty
from optimizer.units import add_months


class StatedMode(Frozen):
    """A run whose performance is known: days are final (no goodput, quantile or extra compute)."""

    platform: Id
    """Platform id."""
    nodes: int = Field(ge=1)
    """Nodes it occupies."""
    days: int = Field(ge=1)
    """Days it takes."""
    source: str
    """Who measured or stated it."""


class Choice(Frozen):
    """Names allowed or denied; an empty ``allow`` allows all that is not denied."""

    allow: tuple[str, ...] | None = None
    """Only these; null = all."""
    deny: tuple[str, ...] = ()
    """Never these."""

    def permits(self, name: str) -> bool:
        """Return whether a name is allowed."""
        return name not in self.deny and (self.allow is None or name in self.allow)


class Workload(Frozen):
    """A training run: an architecture to train, or known modes."""

    architecture: Id | None = None
    """Architecture id; null with modes."""
    modes: tuple[StatedMode, ...] = ()
    """Known performance; empty with an architecture."""
    tokens: NonNegative | None = None
    """Training tokens."""
    sequence_length: int | None = Field(default=None, ge=1)
    """Tokens per sequence."""
    global_batch_tokens: NonNegative | None = None
    """Target tokens per optimizer step."""
    global_batch_tolerance: Share = Field(default=Decimal("0.05"), validate_default=True)
    """Allowed relative deviation from the target batch."""
    extra_compute: NonNegative | None = None
    """Ablations, reruns and evaluation as a share of the run; must be written."""
    precisions: tuple[Precision, ...] = Field(default=(Precision.BF16,), min_length=1)
    """Allowed number formats."""
    platforms: Choice = Choice()
    """Allowed platforms."""
    minimum_evidence: EvidenceLevel | None = None
    """Overrides policy.minimum_evidence."""
    release: dt.date | None = None
    """First day it may run; null = today."""
    deadline: dt.date | None = None
    """Last day it may use; null = last day of the horizon."""
    deadline_margin_days: int = Field(default=0, ge=0)
    """Days kept free before the deadline."""
    after: tuple[str, ...] = ()
    """Workloads that must end first."""

    @model_validator(mode="after")
    def _one_kind(self) -> Workload:
        if (self.architecture is None) == (not self.modes):
            raise ValueError("give either architecture or modes")
        needed = ("tokens", "sequence_length", "global_batch_tokens", "extra_compute")
        missing = [key for key in needed if getattr(self, key) is None]
        if self.architecture and missing:
            raise ValueError(f"a workload with an architecture also needs {', '.join(missing)}")
        if self.tokens is not None and self.tokens <= 0:
            raise ValueError("tokens must be above zero")
        if self.release and self.deadline and self.deadline < self.release:
            raise ValueError(f"deadline {self.deadline} is before release {self.release}")
        return self


class PowerStep(Frozen):
    """IT power usable from a day on."""

    from_: dt.date = Field(alias="from")
    """First day."""
    kw: NonNegative
    """IT kW at the stated redundancy."""


class Zone(Frozen):
    """A room or row; a rack stands in one zone."""

    racks: int = Field(ge=0)
    """Rack positions."""
    kw_per_rack: NonNegative
    """Power of one rack position, kW."""
    cooling: Literal["air", "liquid"]
    """Cooling class."""


class TariffPeriod(Frozen):
    """Hours a day at one electricity price."""

    hours: NonNegative
    """Hours per day."""
    per_kwh: Money
    """Price per kWh."""


class Electricity(Frozen):
    """Metered energy: one price, or hours a day at several (their weighted mean is used)."""

    per_kwh: Money | None = None
    """Price per kWh."""
    periods: tuple[TariffPeriod, ...] = ()
    """Tariff periods of a day."""

    @model_validator(mode="after")
    def _one_kind(self) -> Electricity:
        if (self.per_kwh is None) == (not self.periods):
            raise ValueError("give either per_kwh or periods")
        if self.periods and sum(period.hours for period in self.periods) != 24:
            raise ValueError("the hours of the periods must add up to 24")
        return self


class Colocation(Frozen):
    """Hall cost on provisioned power, on top of metered energy."""

    per_kw_month: Money
    """Price per provisioned kW and month."""


class Site(Frozen):
    """A place of ours."""

    power: tuple[PowerStep, ...] | None = None
    """IT power from dates on, zero before the first; null = no limit."""
    zones: dict[str, Zone] | None = None
    """Rooms or rows; null = no limit on racks."""
    pue: Annotated[Exact, Field(ge=1)] = Field(default=Decimal("1.25"), validate_default=True)
    """Facility power / IT power."""
    electricity: Electricity
    """Metered energy."""
    colocation: Colocation | None = None
    """Hall cost; null = own hall, no charge."""

    @model_validator(mode="after")
    def _ascending(self) -> Site:
        dates = [step.from_ for step in self.power or ()]
        if dates != sorted(set(dates)):
            raise ValueError("power steps must have ascending, different dates")
        return self


class Fx(Frozen):
    """Exchange rates of one day: 1 unit of a currency = rate units of the base."""

    date: dt.date
    """Day of the rates."""
    base: CurrencyCode
    """Base currency."""
    rates: dict[CurrencyCode, Annotated[Exact, Field(gt=0)]]
    """Rate by currency."""


class Budget(Frozen):
    """Cash out, with non-recoverable tax and contingency, without residual and after-run value."""

    total: Money | None = None
    """Whole plan, commitments beyond the horizon included; null = no limit."""
    by_fiscal_year: dict[str, Money] = Field(default_factory=dict)
    """Limit by fiscal year label."""


class Residual(Frozen):
    """Value of purchased hardware: price x share ^ (age in months / months)."""

    months: int = Field(default=36, ge=1)
    """Age at which ``share`` of the price is left."""
    share: Share
    """Share of the hardware price left at that age."""
    platforms: dict[Id, Share] = Field(default_factory=dict)
    """Other shares by platform."""


class Finance(Frozen):
    """Discounting and residual value."""

    discount_rate: Annotated[Exact, Field(ge=0, lt=10)] = Field(default=0, validate_default=True)
    """Yearly rate; 0 = plain total."""
    residual: Residual | None = None
    """Residual value; null = none."""


class AfterRun(Frozen):
    """What happens with the fleet after the last run."""

    policy: Literal["idle", "off", "sell", "use"] = "idle"
    """idle: keep everything on; off: no energy; sell: sold at its residual; use: worth something per hour."""
    max_accelerators: int | None = Field(default=None, ge=1)
    """Most accelerators in use; needed with ``use``."""
    value_per_accelerator_hour: Money | None = None
    """Value of one used accelerator-hour, net of the energy above idle draw."""
    utilisation: Share = Field(default=1, validate_default=True)
    """Share of the hours used."""
    decline_per_year: Share = Field(default=0, validate_default=True)
    """Yearly decline of the value."""

    @model_validator(mode="after")
    def _capped(self) -> AfterRun:
        if self.policy == "use" and (self.max_accelerators is None or self.value_per_accelerator_hour is None):
            raise ValueError(
                "policy use needs max_accelerators (an uncapped value buys the whole hall) and value_per_accelerator_hour"
            )
        return self


class Reliability(Frozen):
    """Failures of a node and what they cost."""

    node_failures_per_1000_days: NonNegative = Field(default=3, validate_default=True)
    """Failures that stop the run, per 1,000 node-days."""
    repair_days: NonNegative = Field(default=3, validate_default=True)
    """Days a failed node is away."""
    restart_minutes: NonNegative = Field(default=15, validate_default=True)
    """Minutes from a failure until training goes on."""
    checkpoint_write_s: NonNegative = Field(default=60, validate_default=True)
    """Seconds a checkpoint stops training."""
    spare_confidence: Annotated[Exact, Field(ge=0, lt=1)] = Field(default=Decimal("0.95"), validate_default=True)
    """Wanted probability that enough nodes work; spares are planned at our own sites until it holds."""

    @model_validator(mode="after")
    def _mostly_at_work(self) -> Reliability:
        if self.node_failures_per_1000_days * self.repair_days > 1000:
            raise ValueError(
                "node_failures_per_1000_days x repair_days is above 1,000: a node would be away more than half of the time"
            )
        return self


CountTable = dict[int, Money]


def _read_amount(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, dict) and "amount" not in value else value


class CostEntry(Frozen):
    """Any other cost: one form for network, storage, staff, licences, migration."""

    name: str = Field(min_length=1)
    """Name of the cost line."""
    per: Literal["cluster", "platform", "accelerator", "node", "unit", "run"]
    """What the amount multiplies: once per plan, per platform with an award, or per piece awarded."""
    amount: Annotated[Money | CountTable, BeforeValidator(_read_amount)]
    """Amount, or a table read at the count of matching awards (all-units): first count -> amount."""
    every: Literal["once", "month", "year"]
    """How often."""
    types: tuple[OfferType, ...] | None = None
    """Only awards of these types; null = all."""
    platforms: tuple[Id, ...] | None = None
    """Only awards of these platforms; null = all."""
    kw: NonNegative = Field(default=0, validate_default=True)
    """IT power it adds per counted piece at the site of each matching award."""
    delay_days: int = Field(default=0, ge=0)
    """Days it delays readiness of matching awards."""


class Owned(Frozen):
    """Nodes we have: sunk, ready today, no residual."""

    platform: Id
    """Platform id."""
    nodes: int = Field(ge=1)
    """Nodes."""
    site: str
    """Our site."""


class Fixed(Frozen):
    """Units already signed: a minimum, counted in the total."""

    quote: str
    """Quote id."""
    offer: str
    """Offer name."""
    units: int = Field(ge=1)
    """Units."""


class VendorPolicy(Choice):
    """Rules on vendors."""

    max: int | None = Field(default=None, ge=1)
    """Most vendors with an award; null = no limit."""
    second_source_share: Share = Field(default=0, validate_default=True)
    """Least share of the accelerators awarded outside the largest vendor."""


class Policy(Frozen):
    """House rules."""

    platforms: Choice = Choice()
    """Platforms allowed or denied."""
    vendors: VendorPolicy = VendorPolicy()
    """Vendors allowed or denied, their number and shares."""
    minimum_evidence: EvidenceLevel = EvidenceLevel.DATASHEET
    """Least evidence of a performance figure."""
    allow_expired_quotes: bool = False
    """True: quotes not valid on earliest_order may be used."""
    allow_budgetary_quotes: bool = True
    """True: budgetary, list and undated quotes may be used."""
    allow_excluded_licence: bool = False
    """True: cards whose licence or warranty excludes data centres may be used."""
    performance_quantile: Annotated[Exact, Field(gt=0, lt=1)] = Field(default=Decimal("0.8"), validate_default=True)
    """Quantile of the duration band that plans use: 0.8 = 80 % sure."""
    contingency: Share = Field(default=0, validate_default=True)
    """Share added on purchase, lease and costs lines."""


class Scenario(Frozen):
    """One question. Everything but currency, today, workloads and quotes has a default the plan lists."""

    name: str | None = None
    """Name; null = the file name."""
    today: dt.date
    """The day the question is asked."""
    horizon_months: int = Field(default=36, ge=1, le=240)
    """Months from today; the horizon day itself is not counted."""
    currency: CurrencyCode
    """Currency of amounts and of the answer."""
    objective: Literal["cost", "time", "capacity"] = "cost"
    """What is optimised."""
    workloads: dict[str, Workload] = Field(min_length=1)
    """Runs by name."""
    sites: dict[str, Site] = Field(default_factory=dict)
    """Places of ours by name."""
    quotes: tuple[str, ...] = Field(min_length=1)
    """Quote files or folders."""
    fx: Fx | None = None
    """Exchange rates."""
    budget: Budget = Budget()
    """Cash limits."""
    fiscal_year_start: int = Field(default=1, ge=1, le=12)
    """First month of the fiscal year."""
    finance: Finance = Finance()
    """Discounting and residual."""
    earliest_order: dt.date | None = None
    """Order date of every award; null = today."""
    after_run: AfterRun = AfterRun()
    """What the fleet does after the last run."""
    reliability: Reliability = Reliability()
    """Failures."""
    costs: tuple[CostEntry, ...] = ()
    """Other costs."""
    owned: tuple[Owned, ...] = ()
    """Nodes we have."""
    fix: tuple[Fixed, ...] = ()
    """Signed already."""
    duty: Duty | None = None
    """Duty on purchased hardware; null = none."""
    policy: Policy = Policy()
    """House rules."""

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        if self.earliest_order and self.earliest_order < self.today:
            raise ValueError(f"earliest_order {self.earliest_order} is before today {self.today}")
        if self.earliest_order and self.earliest_order >= add_months(self.today, self.horizon_months):
            raise ValueError(f"earliest_order {self.earliest_order} is after the horizon")
        for name, workload in self.workloads.items():
            if name in workload.after:
                raise ValueError(f"workloads.{name}.after: a workload cannot come after itself")
            unknown = [other for other in workload.after if other not in self.workloads]
            if unknown:
                raise ValueError(f"workloads.{name}.after: no workload named {', '.join(unknown)}")
        _refuse_cycles(self.workloads)
        return self


def _refuse_cycles(workloads: Mapping[str, Workload]) -> None:
    try:
        TopologicalSorter({name: workload.after for name, workload in workloads.items()}).prepare()
    except CycleError as error:
        chain = " after ".join(error.args[1])
        raise ValueError(f"workloads: {chain}: a workload cannot come after itself") from None
