"""Lists behind a plan that only a workbook has: levelled quotes, prices with their cells."""

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
    count,
    day,
    money,
    name,
    names,
    phrase,
    quoted,
    term,
)
from optimizer.report.source import Source
from optimizer.schema.base import Money
from optimizer.schema.price import PriceState, TieredPrice
from optimizer.schema.quote import Offer, Quote


def tables(source: Source) -> Iterator[Table]:
    """Yield levelled quotes, and every price as quoted."""
    if source.loaded is not None:
        yield from _levelled(source)
        yield quoted_prices(list(source.loaded.quotes.values()))


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


def quoted_prices(quotes: Sequence[Quote]) -> Table:
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
    head = (name(quote.vendor), name(f"{quote.quote} / {offer_name}"))
    file = name(quote.source.file) if quote.source and quote.source.file else BLANK
    until = day(quote.valid_until) if quote.valid_until else term("word.not_stated")
    stated = offer.price
    tiers = stated.breaks.items() if isinstance(stated, TieredPrice) else [(None, stated)]
    for first, amount in tiers:
        own = name(offer.platform)
        what = own if first is None else phrase("book.from_units", what=own, units=count(first))
        yield (*head, what, _price(amount, quote), name(offer.per), name(_cell(quote, offer_name)), file, until)
    for line in offer.lines:
        yield (*head, name(line.item), _price(line.price, quote), name(line.per), name(line.cell or ""), file, until)


def _cell(quote: Quote, offer_name: str) -> str:
    """Return the cells an imported price was read from; empty when the quote was not imported."""
    records = [record for record in quote.lines if record.offer == offer_name and record.role in (None, "hardware")]
    cells = (record.cells.get("price") or record.cell for record in records)
    return ", ".join(dict.fromkeys(cell for cell in cells if cell))


def _price(amount: Money | PriceState | TieredPrice, quote: Quote) -> Cell:
    if isinstance(amount, Money):
        return quoted(amount.amount, amount.currency or quote.currency)
    return term(f"price_state.{amount.value}") if isinstance(amount, PriceState) else BLANK
