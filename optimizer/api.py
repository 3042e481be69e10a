"""The pipeline: load -> candidates -> cost -> solve -> check -> plan. Each stage is a pure function on frozen values."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from optimizer.candidates import ranking
from optimizer.candidates.conditions import setup_of
from optimizer.cost.choice import Choice
from optimizer.cost.frame import Frame
from optimizer.engine.setup import Setup
from optimizer.errors import InputError, Problem, did_you_mean
from optimizer.io.cache import engine_store
from optimizer.io.library import Library
from optimizer.io.loaded import Loaded
from optimizer.io.plans import read_plan
from optimizer.io.scenario import SETS, load_scenario, reload_scenario
from optimizer.io.shipped import located
from optimizer.results import Comparison, InputFile, Layout, Plan, Provenance, SolveInfo, Verification
from optimizer.schema.base import Precision
from optimizer.schema.scenario import Scenario
from optimizer.solver.assumed import assumed
from optimizer.solver.backend import Progress, Settings
from optimizer.solver.baselines import no_worse, with_baselines
from optimizer.solver.binding import with_binding
from optimizer.solver.check import Facts, check
from optimizer.solver.compare import compare_platforms
from optimizer.solver.conflict import explain_infeasible
from optimizer.solver.found import Found, SearchInterrupted, SolverName
from optimizer.solver.planner import Inputs, Modes, Prepared, decide, prepare, refuse_unbounded, unsearched
from optimizer.solver.plans import Report, plan_of
from optimizer.solver.precheck import NOT_SEARCHED, impossible
from optimizer.solver.replay import replay_breaches
from optimizer.version import __version__


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """How to solve; none of it changes a proven plan.

    Attributes:
        seed: Random seed of the solver.
        workers: Solver threads; None = the machine's cores, at most 8.
        jobs: Processes for sweeps; None = the machine's cores, at most 8, where a sweep takes long.
        time_limit_s: Wall seconds; None = no limit.
        gap: Share within which a plan counts as answered.
        solver: auto, cp-sat, highs or enumerate.
    """

    seed: int = 0
    workers: int | None = None
    jobs: int | None = None
    time_limit_s: float | None = None
    gap: float = 0.0
    solver: SolverName = "auto"

    def settings(self, progress: Progress | None = None) -> Settings:
        """Return the settings of a backend."""
        threads = self.workers or min(8, os.cpu_count() or 1)
        return Settings(threads, self.seed, self.time_limit_s, progress, self.gap)


def load(scenario: str | Path | Scenario | Loaded, library: Library | None = None, sets: Sequence[str] = ()) -> Loaded:
    """Return a scenario with its quotes and library; a loaded one is returned as it is.

    Raises:
        InputError: every problem of the files.
    """
    return scenario if isinstance(scenario, Loaded) else load_scenario(scenario, sets, library)


def inputs_of(loaded: Loaded) -> Inputs:
    """Return what the pipeline works on."""
    library = loaded.library
    frame = Frame(loaded.scenario, library.platforms, loaded.quotes)
    return Inputs(frame, library.architectures, library.software, library.bands)


class PlanInterrupted(KeyboardInterrupt):
    """Ctrl-C while solving, after a first plan was found.

    Attributes:
        plan: The best one, checked as any other.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__("interrupted while solving")
        self.plan = plan


def _decided(prepared: Prepared, solver: SolverName, settings: Settings) -> Found:
    """Return what a search found, also when Ctrl-C ended it with a plan at hand."""
    try:
        return decide(prepared, solver, settings)
    except SearchInterrupted as stop:
        if stop.found.choice is None:
            raise
        return stop.found


def solve(
    scenario: str | Path | Scenario | Loaded,
    *,
    library: Library | None = None,
    sets: Sequence[str] = (),
    options: SolveOptions | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Return the best plan of a scenario with its proof, checked independently.

    Args:
        scenario: A scenario file, a scenario object, or a loaded scenario.
        library: Data; default the shipped library.
        sets: ``KEY=VALUE`` changes.
        options: How to solve.
        progress: Called with (incumbent, bound) while solving.

    Raises:
        InputError: bad input.
        InternalError: proofs or check disagree.
        PlanInterrupted: Ctrl-C; it carries the best plan found by then.
    """
    started = time.monotonic()
    options = options or SolveOptions()
    loaded = load(scenario, library, sets)
    inputs = inputs_of(loaded)
    refuse_unbounded(inputs.frame)
    known = Modes(engine_store())
    settings = remaining(options.settings(progress), started)
    conflict = impossible(inputs.frame)
    if conflict is None:
        prepared = prepare(inputs, known)
        settings = remaining(options.settings(progress), started)
        found = _decided(prepared, options.solver, settings)
        if not found.interrupted:
            found = no_worse(found, prepared, inputs, options.solver, settings)
    else:
        prepared, found = unsearched(inputs.frame), NOT_SEARCHED
    if found.status == "infeasible" and conflict is None:
        conflict = explain_infeasible(inputs, known, prepared, settings)
    info = SolveInfo(
        solver=found.solver,
        wall_s=round(time.monotonic() - started, 3),
        seed=options.seed,
        workers=settings.workers,
        candidates=prepared.candidates,
        layouts_evaluated=known.layouts_evaluated,
        proof=found.proof,
        time_limit_s=options.time_limit_s,
    )
    report = Report(info, prepared.problem.rejections, provenance(loaded, inputs, found.choice), conflict)
    plan = plan_of(found, prepared, inputs, report)
    if found.interrupted:
        raise PlanInterrupted(plan)
    if plan.status != "optimal" or plan.objective.value is None or options.solver == "enumerate":
        return plan
    settings = remaining(options.settings(), started)
    limits = with_binding(plan.limits, plan.objective.value, inputs, known, options.solver, settings)
    plan = plan.model_copy(update={"limits": limits})
    return with_baselines(plan, prepared, inputs, options.solver, remaining(options.settings(), started))


def remaining(settings: Settings, started: float) -> Settings:
    """Return the settings with the time limit counted from a start (``time.monotonic``)."""
    return settings.since(started)


def provenance(loaded: Loaded, inputs: Inputs, choice: Choice | None) -> Provenance:
    """Return what is needed to make a plan again, and what it assumes."""
    return Provenance(
        version=__version__,
        ortools=version("ortools"),
        today=loaded.scenario.today,
        inputs=loaded.files,
        assumptions=(*loaded.assumptions, *assumed(choice, inputs)),
    )


def compare(
    scenario: str | Path | Scenario | Loaded,
    *,
    library: Library | None = None,
    sets: Sequence[str] = (),
    options: SolveOptions | None = None,
) -> Comparison:
    """Return one row per platform of the library: its best plan, or the limit that rejects it.

    Raises:
        InputError: bad input.
    """
    options = options or SolveOptions()
    inputs = inputs_of(load(scenario, library, sets))
    refuse_unbounded(inputs.frame)
    return compare_platforms(inputs, Modes(engine_store()), options.solver, options.settings())


def verify(plan: str | Path, *, library: Library | None = None) -> Verification:
    """Recompute every limit and number of a plan from the inputs it carries; tell which of their files changed since.

    Limits and money by independent code, then the figures of the engine and the reasons of rejections by the engine
    itself. No solver runs: that no better plan exists is the word of the proof the plan was made with.

    Raises:
        InputError: not a plan, or its inputs cannot be read.
    """
    record = read_plan(plan)
    loaded = reload_scenario(record.provenance.inputs, library)
    facts = Facts(loaded.scenario, loaded.library.platforms, loaded.library.architectures, loaded.quotes)
    found = check(record, facts) or tuple(replay_breaches(record, inputs_of(loaded)))
    edited = (file.path for file in record.provenance.inputs if not _intact(file))
    breaches = (*map(str, found), *(f"the content of {name} is not the one that was hashed" for name in edited))
    folder = Path(plan).parent
    states = {file.path: input_state(file.path, file.sha256, folder) for file in record.provenance.inputs}
    changed = tuple(name for name, state in states.items() if state == "changed")
    missing = tuple(name for name, state in states.items() if state == "not found")
    return Verification(ok=not breaches, breaches=breaches, changed_inputs=changed, not_found=missing)


def input_state(name: str, sha256: str, folder: Path | None = None) -> Literal["same", "changed", "not found"]:
    """Return whether a file a plan was made from still reads the same.

    Args:
        name: Its name as the plan carries it; ``--set`` arguments never change.
        sha256: Its checksum then.
        folder: Where else to look, with its parents: the folder of the plan.
    """
    if name == SETS:
        return "same"
    path = located(name, folder)
    if path is None:
        return "not found"
    return "same" if hashlib.sha256(path.read_bytes()).hexdigest() == sha256 else "changed"


def _intact(file: InputFile) -> bool:
    """Return whether the content a plan carries is the one it states the hash of."""
    return hashlib.sha256(file.content.encode("utf-8")).hexdigest() == file.sha256


def layouts(
    *,
    architecture: str,
    platform: str,
    accelerators: int,
    sequence_length: int,
    global_batch: int,
    precision: str = "bf16",
    top: int = 10,
    near: float | None = None,
    library: Library | None = None,
) -> ranking.Ranking:
    """Return the fastest layouts of a model on a number of accelerators.

    Args:
        architecture: Architecture id.
        platform: Platform id.
        accelerators: Accelerators the run occupies.
        sequence_length: Tokens per sequence.
        global_batch: Sequences per optimizer step.
        precision: Number format.
        top: Most rows.
        near: Only rows at most this share slower than the fastest.
        library: Data; default the shipped library.

    Raises:
        InputError: an unknown name, a missing figure, or no legal layout.
    """
    setup = _setup(library or Library.shipped(), architecture, platform, sequence_length, precision)
    return ranking.layouts(setup, accelerators, global_batch, top, near)


def predict(
    *,
    architecture: str,
    platform: str,
    layout: Layout,
    accelerators: int,
    sequence_length: int,
    library: Library | None = None,
) -> ranking.Prediction:
    """Return memory and time of one layout, by component, and changes with which it fits when it does not.

    Raises:
        InputError: an unknown name, a missing figure, or an illegal layout (all problems at once).
    """
    setup = _setup(library or Library.shipped(), architecture, platform, sequence_length, layout.precision)
    return ranking.predict(setup, layout, accelerators)


def _setup(library: Library, architecture: str, platform: str, sequence_length: int, precision: str) -> Setup:
    known = [item.value for item in Precision]
    problems = [
        *_unknown("--architecture", architecture, sorted(library.architectures)),
        *_unknown("--platform", platform, sorted(library.platforms)),
        *_unknown("--precision", precision, known),
    ]
    if problems:
        raise InputError(problems)
    card, model = library.platforms[platform], library.architectures[architecture]
    return setup_of(model, card, Precision(precision), sequence_length, library.software)


def _unknown(option: str, name: str, known: list[str]) -> list[Problem]:
    if name in known:
        return []
    return [Problem(option, f'nothing named "{name}"', f"one of {len(known)} known names", did_you_mean(name, known))]
