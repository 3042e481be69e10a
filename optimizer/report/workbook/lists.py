"""Lists behind a plan as tables: levelled quotes, prices with their cells, assumptions, sources, rejections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from optimizer.analysis.levelling import HARDWARE, Basis, LevelledOffer, level
from optimizer.errors import InputError
from optimizer.report.document import (
    BLANK,
    Cell,
    Column,
    Table,
    code,
    count,
    day,
    money,
    name,
    names,
    number,
    phrase,
    price,
    sentence,
    term,
)
from optimizer.report.source import Source
from optimizer.results import Plan, Rejection
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote import Offer, Quote


def tables(source: Source) -> Iterator[Table]:
    """Yield every list of a plan."""
    if source.loaded is not None:
        yield from _levelled(source)
        yield _prices(list(source.loaded.quotes.values()))
    yield _assumptions(source.plan)
    yield _files(source.plan)
    yield _rejections(source.plan.rejections)


def _levelled(source: Source) -> Iterator[Table]:
    """Yield purchase offers for the platforms that are bought, per node on one basis."""
    loaded = source.loaded
    bought: dict[str, int] = {}
    for award in source.plan.awards:
        if award.type == "purchase":
            bought[award.platform] = bought.get(award.platform, 0) + award.units
    if loaded is None or not bought:
        return
    asked, quotes = loaded.scenario, list(loaded.quotes.values())
    heads = (
        Column("book.platform"),
        Column("book.vendor"),
        Column("book.quote"),
        *(Column(f"book.{head}", figure=True, unit=source.currency) for head in ("hardware", "extras", "per_node")),
        Column("book.extra_names"),
        Column("book.missing"),
    )
    rows: list[tuple[Cell, ...]] = []
    for platform, units in bought.items():
        card = loaded.library.platforms[platform]
        basis = Basis(card, units, source.currency, asked.horizon_months, asked.today, asked.fx)
        rows += [_offer(platform, offer, basis.currency) for offer in _level(quotes, basis)]
    yield Table("levelled", "book.levelled", heads, tuple(rows), note=phrase("book.levelled_note"))


def _level(quotes: Sequence[Quote], basis: Basis) -> tuple[LevelledOffer, ...]:
    try:
        return level(quotes, basis).rows
    except InputError:  # a quote nobody could use has no exchange rate: nothing to level it with
        return ()


def _offer(platform: str, offer: LevelledOffer, currency: str) -> tuple[Cell, ...]:
    hardware = [each.per_node for each in offer.items if each.item == HARDWARE]
    extras = [each for each in offer.items if each.item != HARDWARE]
    return (
        name(platform),
        name(offer.vendor),
        name(f"{offer.quote} / {offer.offer}"),
        money(hardware[0] if hardware else None, currency),
        money(sum((each.per_node for each in extras), Decimal(0)), currency),
        money(offer.per_node, currency),
        names(each.item for each in extras),
        names(offer.missing),
    )


def _prices(quotes: Sequence[Quote]) -> Table:
    """Return every price as quoted, with the file and cell it was read from."""
    heads = ("vendor", "quote", "item", "price", "per", "cell", "file", "valid_until")
    rows = [
        row
        for quote in quotes
        for offer_name, offer in quote.offers.items()
        for row in _offered(quote, offer_name, offer)
    ]
    return Table("prices", "book.prices", tuple(Column(f"book.{head}") for head in heads), tuple(rows))


def _offered(quote: Quote, offer_name: str, offer: Offer) -> Iterator[tuple[Cell, ...]]:
    label = name(f"{quote.quote} / {offer_name}")
    file = name(quote.source.file) if quote.source and quote.source.file else BLANK
    until = day(quote.valid_until) if quote.valid_until else term("word.not_stated")
    stated = offer.price
    tiers = stated.breaks.items() if isinstance(stated, TieredPrice) else [(None, stated)]
    for first, amount in tiers:
        what = (
            name(offer.platform)
            if first is None
            else phrase("book.from_units", what=name(offer.platform), units=count(first))
        )
        yield (name(quote.vendor), label, what, _price(amount, quote), name(offer.per), BLANK, file, until)
    for line in offer.lines:
        cell = name(line.cell) if line.cell else BLANK
        yield (name(quote.vendor), label, name(line.item), _price(line.price, quote), name(line.per), cell, file, until)


def _price(amount: Money | PriceState | TieredPrice, quote: Quote) -> Cell:
    if isinstance(amount, Money):
        return price(amount.amount, amount.currency or quote.currency)
    return term(f"price_state.{amount.value}") if isinstance(amount, PriceState) else BLANK


def _assumptions(plan: Plan) -> Table:
    heads = tuple(Column(f"book.{head}") for head in ("assumption", "value", "source"))
    rows = tuple((code(used.name), sentence(used.value), sentence(used.source)) for used in plan.provenance.assumptions)
    return Table("assumptions", "book.assumptions", heads, rows)


def _files(plan: Plan) -> Table:
    heads = tuple(Column(f"book.{head}") for head in ("file", "checksum"))
    rows = tuple((name(file.path), code(file.sha256)) for file in plan.provenance.inputs)
    version = phrase("book.versions", version=name(plan.provenance.version), ortools=name(plan.provenance.ortools))
    return Table("sources", "book.sources", heads, rows, note=version)


def _rejections(rejections: Sequence[Rejection]) -> Table:
    heads = ("platform", "vendor", "quote", "limit", "needed", "available", "unit", "reason")
    rows = tuple(
        (
            name(each.platform or ""),
            name(each.vendor or ""),
            name(each.quote or ""),
            term(f"limit.{each.limit}"),
            _figure(each.needed),
            _figure(each.available),
            sentence(each.unit),
            sentence(each.reason),
        )
        for each in rejections
    )
    return Table("rejections", "book.rejections", tuple(Column(f"book.{head}") for head in heads), rows)


def _figure(value: Decimal | str | None) -> Cell:
    return sentence(value) if isinstance(value, str) else number(value)
