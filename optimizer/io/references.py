"""Names in one file that must exist in another: platforms, architectures, sites, offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from optimizer.errors import Problem, did_you_mean
from optimizer.io.document import Document, KeyPath
from optimizer.io.loaded import Loaded
from optimizer.schema.quote import SiteOffer
from optimizer.schema.scenario import Scenario


def named_platforms(loaded: Loaded) -> frozenset[str]:
    """Return the ids of the platforms that the offers, modes and owned nodes of a scenario are about."""
    scenario = loaded.scenario
    modes = (mode.platform for workload in scenario.workloads.values() for mode in workload.modes)
    offers = (offer.platform for _, _, offer in loaded.offers())
    return frozenset((*modes, *offers, *(owned.platform for owned in scenario.owned)))


def unknown_names(loaded: Loaded) -> Iterator[Problem]:
    """Yield a problem for every name that names nothing, with the closest that does."""
    yield from _platform_names(loaded)
    yield from _architecture_names(loaded)
    yield from _site_names(loaded)
    yield from _fixed_offers(loaded)


def _platform_names(loaded: Loaded) -> Iterator[Problem]:
    known = loaded.library.platforms
    for document, path, name in _named_platforms(loaded):
        if name not in known:
            yield _no_such(document, path, "platform", name, known, "models/platforms")


def _named_platforms(loaded: Loaded) -> Iterator[tuple[Document, KeyPath, str]]:
    for path, name in _scenario_platforms(loaded.scenario):
        yield loaded.document, path, name
    for quote_id, offer_name, offer in loaded.offers():
        yield loaded.quote_documents[quote_id], ("offers", offer_name, "platform"), offer.platform


def _scenario_platforms(scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
    lists: list[tuple[KeyPath, tuple[str, ...] | None]] = [
        (("policy", "platforms", "allow"), scenario.policy.platforms.allow),
        (("policy", "platforms", "deny"), scenario.policy.platforms.deny),
    ]
    for name, workload in scenario.workloads.items():
        yield from ((("workloads", name, "modes", i, "platform"), m.platform) for i, m in enumerate(workload.modes))
        lists.append((("workloads", name, "platforms", "allow"), workload.platforms.allow))
        lists.append((("workloads", name, "platforms", "deny"), workload.platforms.deny))
    lists += [(("costs", i, "platforms"), entry.platforms) for i, entry in enumerate(scenario.costs)]
    for path, names in lists:
        yield from (((*path, position), name) for position, name in enumerate(names or ()))
    yield from ((("owned", position, "platform"), owned.platform) for position, owned in enumerate(scenario.owned))
    if scenario.finance.residual:
        yield from ((("finance", "residual", "platforms", name), name) for name in scenario.finance.residual.platforms)


def _architecture_names(loaded: Loaded) -> Iterator[Problem]:
    known = loaded.library.architectures
    for name, workload in loaded.scenario.workloads.items():
        if workload.architecture and workload.architecture not in known:
            path = ("workloads", name, "architecture")
            yield _no_such(loaded.document, path, "architecture", workload.architecture, known, "models/architectures")


def _site_names(loaded: Loaded) -> Iterator[Problem]:
    known = loaded.scenario.sites
    for position, owned in enumerate(loaded.scenario.owned):
        if owned.site not in known:
            yield _no_such(loaded.document, ("owned", position, "site"), "site", owned.site, known, "the scenario")
    for quote_id, name, offer in loaded.offers():
        for position, site in enumerate(offer.sites or () if isinstance(offer, SiteOffer) else ()):
            if site not in known:
                path = ("offers", name, "sites", position)
                yield _no_such(loaded.quote_documents[quote_id], path, "site", site, known, "the scenario")


def _no_such(
    document: Document, path: KeyPath, kind: str, name: str, known: Mapping[str, object], where: str
) -> Problem:
    fix = f"{did_you_mean(name, list(known))} ({len(known)} {kind}s in {where})".strip()
    return document.problem(path, f'no {kind} named "{name}"', "", fix)


def _fixed_offers(loaded: Loaded) -> Iterator[Problem]:
    offers = [f"{quote_id}/{name}" for quote_id, name, _ in loaded.offers()]
    for position, fixed in enumerate(loaded.scenario.fix):
        wanted = f"{fixed.quote}/{fixed.offer}"
        if wanted not in offers:
            found = f'no offer "{fixed.offer}" in a quote "{fixed.quote}"'
            yield loaded.document.problem(("fix", position), found, "", did_you_mean(wanted, offers))
            continue
        most = loaded.quotes[fixed.quote].offers[fixed.offer].units.max
        if most is not None and fixed.units > most:
            found = f"{fixed.units} units signed of an offer of at most {most}"
            yield loaded.document.problem(("fix", position, "units"), found, "", "Raise units.max of the offer")
