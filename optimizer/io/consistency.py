"""Values that contradict each other across a scenario, its quotes and the library."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from optimizer.errors import Problem, did_you_mean
from optimizer.io.document import Document, KeyPath
from optimizer.io.loaded import Loaded
from optimizer.schema.base import Money
from optimizer.schema.platform import Platform
from optimizer.schema.quote import Offer, Quote
from optimizer.schema.scenario import Scenario
from optimizer.units import add_months, fiscal_year

MAX_TIME = 36_500
"""Longest time in days, weeks or months: a hundred years of days; beyond it a typing error is certain."""

MAX_COUNT = 100_000_000
"""Largest count of anything: a hundred times the largest cluster anyone plans."""


def contradictions(loaded: Loaded) -> Iterator[Problem]:
    """Yield every contradiction found; each rule reports all it finds."""
    for rule in (
        _typing_errors,
        _steps,
        _acquisition,
        _price_basis,
        _zero_prices,
        _cost_entries,
        _budgets,
        _vendor_names,
        _budget_labels,
        _capacity_bound,
    ):
        yield from rule(loaded)
    yield from _currencies(loaded)
    yield from _duplicate_offers(loaded)


def amounts(record: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Money]]:
    """Yield every amount in a record with its path."""
    if isinstance(record, Money):
        yield path, record
    elif isinstance(record, BaseModel):
        for name, info in type(record).model_fields.items():
            yield from amounts(getattr(record, name), (*path, info.alias or name))
    elif isinstance(record, Mapping):
        for key, value in record.items():
            yield from amounts(value, (*path, key))
    elif isinstance(record, tuple):
        for position, value in enumerate(record):
            yield from amounts(value, (*path, position))


def horizon_end(scenario: Scenario) -> dt.date:
    """Return the last counted day of the horizon."""
    return add_months(scenario.today, scenario.horizon_months) - dt.timedelta(days=1)


def _typing_errors(loaded: Loaded) -> Iterator[Problem]:
    """Whole numbers no calendar and no solver could hold."""
    records: list[tuple[Document, object]] = [(loaded.document, loaded.scenario)]
    records += [(loaded.quote_documents[name], quote) for name, quote in loaded.quotes.items()]
    for document, record in records:
        for path, value in _whole_numbers(record, ()):
            words = [str(key) for key in path if not isinstance(key, int)]
            largest = MAX_TIME if words[-1].endswith(("days", "weeks", "months")) else MAX_COUNT
            if value > largest:
                yield document.problem(path, str(value), f"Expected at most {largest:,}")


def _steps(loaded: Loaded) -> Iterator[Problem]:
    """A run has at least one optimizer step."""
    for name, workload in loaded.scenario.workloads.items():
        tokens, batch = workload.tokens, workload.global_batch_tokens
        path = ("workloads", name, "global_batch_tokens")
        if batch == 0:
            yield loaded.document.problem(path, "0", "Expected more than 0")
        if tokens is not None and batch and tokens < batch:
            yield loaded.document.problem(
                path, f"{batch:,.0f} of {tokens:,.0f} tokens", "Expected at least one whole step"
            )


def _whole_numbers(record: object, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    if isinstance(record, BaseModel):
        for name, info in type(record).model_fields.items():
            yield from _whole_numbers(getattr(record, name), (*path, info.alias or name))
    elif isinstance(record, Mapping):
        for key, value in record.items():
            yield from _whole_numbers(key if isinstance(key, int) else 0, (*path, key))
            yield from _whole_numbers(value, (*path, key))
    elif isinstance(record, tuple):
        for position, value in enumerate(record):
            yield from _whole_numbers(value, (*path, position))
    elif isinstance(record, int) and not isinstance(record, bool):
        yield path, record


def _known_offers(loaded: Loaded) -> Iterator[tuple[Document, KeyPath, Offer, Platform]]:
    for quote_id, name, offer in loaded.offers():
        if platform := loaded.library.platforms.get(offer.platform):
            yield loaded.quote_documents[quote_id], ("offers", name), offer, platform


def _acquisition(loaded: Loaded) -> Iterator[Problem]:
    for document, path, offer, platform in _known_offers(loaded):
        if offer.type not in platform.acquisition:
            ways = ", ".join(platform.acquisition)
            found = f"an offer of type {offer.type} for {platform.id}"
            yield document.problem((*path, "type"), found, f"Expected {ways}" if ways else "It is not for sale or rent")


def _price_basis(loaded: Loaded) -> Iterator[Problem]:
    for document, path, offer, platform in _known_offers(loaded):
        bases: list[tuple[KeyPath, str]] = [((*path, "per"), offer.per)]
        bases += [((*path, "lines", position, "per"), line.per) for position, line in enumerate(offer.lines)]
        for place, per in bases:
            if per in ("rack", "rack_hour") and platform.purchase_unit != "rack":
                found = f"per {per} for {platform.id}, which is sold by the {platform.purchase_unit}"
                yield document.problem(place, found, f"Expected per {per.replace('rack', 'node')}")


def _zero_prices(loaded: Loaded) -> Iterator[Problem]:
    for quote_id, name, offer in loaded.offers():
        below: KeyPath = ("offers", name)
        prices = [((*below, "price"), offer.price)]
        prices += [((*below, "lines", i, "price"), line.price) for i, line in enumerate(offer.lines)]
        for path, price in prices:
            if isinstance(price, Money) and price.amount == 0:
                yield loaded.quote_documents[quote_id].problem(path, "a price of 0", "Expected free or included")
        if isinstance(offer.price, Money) and offer.price.amount < 0:
            yield loaded.quote_documents[quote_id].problem(prices[0][0], "a price below 0", "Expected more than 0")


def _budgets(loaded: Loaded) -> Iterator[Problem]:
    budget = loaded.scenario.budget
    amounts: list[tuple[KeyPath, Money | None]] = [(("budget", "total"), budget.total)]
    amounts += [(("budget", "by_fiscal_year", year), money) for year, money in budget.by_fiscal_year.items()]
    for path, money in amounts:
        if money is not None and money.amount < 0:
            yield loaded.document.problem(path, "a budget below 0", "Expected 0 or more", "null removes the limit")


def _vendor_names(loaded: Loaded) -> Iterator[Problem]:
    """Only vendors that quote can be allowed; one that is denied without a quote is a warning (``check``)."""
    known = sorted({quote.vendor for quote in loaded.quotes.values()})
    for position, name in enumerate(loaded.scenario.policy.vendors.allow or ()):
        if name not in known:
            found = f'no vendor named "{name}" among the quotes'
            fix = did_you_mean(name, known) or f"There are {', '.join(known)}"
            yield loaded.document.problem(("policy", "vendors", "allow", position), found, "", fix)


def _cost_entries(loaded: Loaded) -> Iterator[Problem]:
    for position, entry in enumerate(loaded.scenario.costs):
        if not isinstance(entry.amount, Money) and min(entry.amount, default=0) != 1:
            found = f"a table that starts at {min(entry.amount)}" if entry.amount else "an empty table"
            expected = "Expected a first key of 1, so that every count has an amount"
            yield loaded.document.problem(("costs", position, "amount"), found, expected)
        if entry.per == "run" and entry.every != "once":
            yield loaded.document.problem(
                ("costs", position, "every"), f"per run, every {entry.every}", "Expected once"
            )


def _budget_labels(loaded: Loaded) -> Iterator[Problem]:
    scenario = loaded.scenario
    first = scenario.today.year
    days = (scenario.today, *(dt.date(year, scenario.fiscal_year_start, 1) for year in range(first, first + 22)))
    last = horizon_end(scenario)
    labels = tuple(
        dict.fromkeys(fiscal_year(day, scenario.fiscal_year_start) for day in days if scenario.today <= day <= last)
    )
    for label in scenario.budget.by_fiscal_year:
        if label not in labels:
            found = f'no fiscal year "{label}" in the horizon'
            path = ("budget", "by_fiscal_year", label)
            yield loaded.document.problem(path, found, f"Expected one of {', '.join(labels)}")


def _capacity_bound(loaded: Loaded) -> Iterator[Problem]:
    scenario = loaded.scenario
    limited = scenario.budget.total is not None or bool(scenario.budget.by_fiscal_year)
    limited = limited or any(site.power is not None or site.zones is not None for site in scenario.sites.values())
    if scenario.objective == "capacity" and not limited:
        expected = "Expected a budget, or a site with power or zones: without a limit the answer is endless"
        yield loaded.document.problem(("objective",), "capacity without a limit", expected)


def _currencies(loaded: Loaded) -> Iterator[Problem]:
    """Every currency must convert into the scenario's; one problem per currency, where it is first used."""
    scenario = loaded.scenario
    fx = scenario.fx
    known = {scenario.currency} | ({fx.base, *fx.rates} if fx else set())
    for document, path, code in _currencies_used(loaded):
        missing = code if code not in known else scenario.currency
        if code == scenario.currency or (fx and {code, scenario.currency} <= {fx.base, *fx.rates}):
            continue
        known.add(code)
        fix = f"Add fx.rates.{missing}" if fx else "Add fx with date, base and rates"
        yield document.problem(path, f"no exchange rate {code} -> {scenario.currency}", "", fix)


def _currencies_used(loaded: Loaded) -> Iterator[tuple[Document, KeyPath, str]]:
    places = [(loaded.document, path, money.currency) for path, money in amounts(loaded.scenario)]
    for quote_id, quote in loaded.quotes.items():
        document = loaded.quote_documents[quote_id]
        places.append((document, ("currency",), quote.currency))
        places += [(document, path, money.currency) for path, money in amounts(quote)]
    first: dict[str, tuple[Document, KeyPath, str]] = {}
    for document, path, code in places:
        if code:
            first.setdefault(code, (document, path, code))
    yield from first.values()


def _duplicate_offers(loaded: Loaded) -> Iterator[Problem]:
    """The same offer under two quote ids would double its supply."""
    seen: dict[str, str] = {}
    for quote_id, name, offer in loaded.offers():
        here = loaded.quote_documents[quote_id]
        key = _offer_key(loaded.quotes[quote_id], offer)
        if other := seen.get(key):
            found = f"the same offer as {other}"
            yield here.problem(("offers", name), found, "Expected each offer once", "Remove one, or tell them apart")
        seen.setdefault(key, here.at(("offers", name)))


def _offer_key(quote: Quote, offer: Offer) -> str:
    terms = quote.model_dump_json(exclude={"quote", "revision", "offers", "source"})
    return f"{terms} {offer.model_dump_json()}"
