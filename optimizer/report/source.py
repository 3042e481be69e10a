"""What a report is made from: the plan, and its inputs read again from the contents the plan carries."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from optimizer.analysis.kept import Analyses, analyses_of
from optimizer.api import input_state
from optimizer.errors import InputError
from optimizer.io.consistency import horizon_end
from optimizer.io.json_text import rounded_plan
from optimizer.io.plans import read_plan
from optimizer.io.scenario import SETS, reload_scenario
from optimizer.results import Award, Plan
from optimizer.schema.quote import Offer, Quote
from optimizer.schema.scenario import CostEntry
from optimizer.solver.check import Facts, case_of
from optimizer.solver.check.case import Case
from optimizer.solver.check.site import SiteStep, power_steps, rack_steps
from optimizer.solver.check.structure import structure_breaches

if TYPE_CHECKING:
    from optimizer.io.document import Document
    from optimizer.io.library import Library
    from optimizer.io.loaded import Loaded


@dataclass(frozen=True, slots=True)
class Source:
    """A plan with its inputs.

    Attributes:
        plan: The plan, its amounts rounded once.
        file: Name of its file, as commands need it.
        loaded: Its inputs as they were then; None when this version cannot read them.
        unread: Why they cannot be read; empty when they can.
        changed: Input files that read differently now.
        missing: Input files that were not found from the current folder.
        analyses: What was asked about the plan and kept in its file.
    """

    plan: Plan
    file: str
    loaded: Loaded | None
    unread: str
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    analyses: Analyses

    @property
    def currency(self) -> str:
        """Currency of the plan's amounts; of a plan without a price that of its limits; empty when it is not known."""
        asked = self.loaded.scenario.currency if self.loaded else ""
        return self.plan.cost.currency if self.plan.cost else self.plan.objective.currency or asked

    @property
    def horizon_end(self) -> dt.date | None:
        """Last counted day; None when the inputs are unread."""
        return horizon_end(self.loaded.scenario) if self.loaded else None

    def quote(self, award: Award) -> Quote | None:
        """Return the quote of an award; None when the inputs are unread."""
        return self.loaded.quotes.get(award.quote) if self.loaded else None

    def quote_document(self, award: Award) -> Document | None:
        """Return the record an award's quote was read from; None when the inputs are unread."""
        return self.loaded.quote_documents.get(award.quote) if self.loaded else None

    def offer(self, award: Award) -> Offer | None:
        """Return the offer of an award; None when the inputs are unread."""
        quote = self.quote(award)
        return quote.offers.get(award.offer) if quote else None

    def setup_days(self, award: Award) -> int:
        """Return the days from delivery to ready: acceptance and the delays of the costs that match the award."""
        offer = self.offer(award)
        if self.loaded is None or offer is None:
            return 0
        delays = (entry.delay_days for entry in self.loaded.scenario.costs if _matches(entry, offer))
        return offer.acceptance_days + sum(delays)

    def ready(self, award: Award, delivered: dt.date) -> dt.date:
        """Return the first day a delivery can train."""
        return delivered + dt.timedelta(days=self.setup_days(award))

    def power(self) -> Iterable[SiteStep]:
        """Return power used and available at each site, kW, on each day on which one of them changes."""
        case = self._case()
        return () if case is None else power_steps(case)

    def racks(self) -> Iterable[SiteStep]:
        """Return racks needed and available at each site with zones, on each day on which that may change."""
        case = self._case()
        return () if case is None else rack_steps(case)

    def _case(self) -> Case | None:
        """Return the plan joined with its inputs; None when there is no plan, or it does not go with its inputs."""
        if self.loaded is None or self.plan.cost is None:
            return None
        library = self.loaded.library
        facts = Facts(self.loaded.scenario, library.platforms, library.architectures, self.loaded.quotes)
        return None if any(structure_breaches(self.plan, facts)) else case_of(self.plan, facts)

    @property
    def scenario_file(self) -> str:
        """Name of the scenario's file, as commands need it."""
        inputs = self.plan.provenance.inputs
        return inputs[0].path if inputs else "SCENARIO"

    def command(self, name: str, *options: str) -> str:
        """Return the command line that computes an analysis and keeps it in the plan file."""
        sets = (f"--set {shlex.quote(line)}" for line in self._sets)
        return " ".join(
            ("clusterbuy", name, shlex.quote(self.scenario_file), *options, *sets, "--plan", shlex.quote(self.file))
        )

    @property
    def verify_command(self) -> str:
        """Command line that recomputes the plan without the solver."""
        return f"clusterbuy verify {shlex.quote(self.file)}"

    def asked(self, name: str) -> str:
        """Return the command line that answers a question about the scenario."""
        return self.command(name).rpartition(" --plan ")[0]

    @property
    def _sets(self) -> list[str]:
        inputs = self.plan.provenance.inputs
        return [line for file in inputs if file.path == SETS for line in file.content.splitlines()]


def _matches(entry: CostEntry, offer: Offer) -> bool:
    of_type = entry.types is None or offer.type in entry.types
    return of_type and (entry.platforms is None or offer.platform in entry.platforms)


def read_source(path: str | Path, library: Library | None = None) -> Source:
    """Read a plan and the inputs it carries; nothing is read from the input files except whether they changed.

    Raises:
        InputError: the file is no plan.
    """
    plan = rounded_plan(read_plan(path))
    inputs = plan.provenance.inputs
    loaded, unread = None, ""
    try:
        loaded = reload_scenario(inputs, library) if inputs else None
    except InputError as error:
        unread = str(error)
    folder = Path(path).parent
    states = {file.path: input_state(file.path, file.sha256, folder) for file in inputs}
    changed = tuple(name for name, state in states.items() if state == "changed")
    missing = tuple(name for name, state in states.items() if state == "not found")
    return Source(plan, str(path), loaded, unread, changed, missing, analyses_of(plan))
