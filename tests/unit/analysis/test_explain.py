"""Why not a platform, vendor or quote: gaps that add up, switch prices by hand, limits that reject."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from optimizer.analysis.explain import Explanation, Question, UndecidedError, explain
from optimizer.analysis.nodes import why_nodes
from optimizer.analysis.reasons import grouped
from optimizer.api import SolveOptions
from optimizer.cost.frame import Frame
from optimizer.errors import InputError
from optimizer.report.explanations import explanation_screen
from optimizer.results import Conflict, Rejection
from tests.unit.analysis.files import OPTIONS, bench, loaded, written
from tests.unit.cost.world import frame, platform, purchase, quote, site, stated, workload
from tests.unit.solver.faults import Altered, inject

MODES = [stated(2, 30), stated(2, 30, "crate"), stated(3, 30, "tub")]


def market(**changes: Any) -> Frame:
    """Return three platforms: boxes at 100 (Acme) or 150 (Best), crates at 130 (three weeks), tubs on request."""
    support = [{"item": "support", "per": "node", "price": 7}]
    quotes = (
        quote(purchase(100)),
        quote(purchase(150, lines=support), "best", vendor="Best"),
        quote(purchase(130, platform="crate", lead_weeks=3), "crates", vendor="Crates"),
        quote(purchase("on_request", platform="tub"), "tubs", vendor="Tubs"),
    )
    cards = [platform(), platform("crate"), platform("tub")]
    return frame(*quotes, platforms=cards, **({"workloads": workload(*MODES)} | changes))


def asked(folder: Path, world: Frame | None = None, **question: str) -> Explanation:
    found = explain(loaded(world or market(), folder), options=OPTIONS, question=Question(**question))
    assert isinstance(found, Explanation)
    return found


def shown(screen: RenderableType) -> str:
    console = Console(width=100, file=StringIO())
    console.print(screen)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_what_is_in_the_plan_is_chosen(tmp_path: Path) -> None:
    for question in ({"platform": "box"}, {"vendor": "Acme"}, {"quote": "q"}, {"quote": "q/node"}):
        found = asked(tmp_path, **question)
        assert (found.answer, found.gap, found.gap_lines) == ("chosen", 0, ())


def test_a_plan_that_is_not_proven_is_explained_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(tmp_path, platform="box").proven
    inject(monkeypatch, Altered(outcome="feasible", bound=0))
    found = asked(tmp_path, platform="box")
    assert not found.proven
    lines = shown(explanation_screen(found))
    assert lines.startswith("The plan explained is not proven to be the best")
    assert "platform box is in the plan" in lines


def test_a_dearer_platform_with_its_gap_and_its_price(tmp_path: Path) -> None:
    """2 x 130 against 2 x 100; it wins at 200 / 260 of its price."""
    found = asked(tmp_path, platform="crate")
    assert (found.answer, found.gap, found.objective_gap) == ("dearer", 60, 60)
    assert [(line.item, line.a, line.b, line.delta) for line in found.gap_lines] == [("hardware", 200, 260, 60)]
    (price,) = found.would_win_if
    assert (price.what, price.from_, price.to) == ("price", 1, Decimal("0.7692"))


def test_with_several_runs_what_is_asked_about_carries_them_all_and_the_answer_says_so(tmp_path: Path) -> None:
    """Boxes run both; crates can run only one of them."""
    both = {"a": {"modes": [stated(2, 30)]}, "b": {"modes": [stated(2, 30), stated(2, 30, "crate")]}}
    found = asked(tmp_path, market(workloads=both), platform="crate")
    assert (found.question, found.answer) == ("platform crate for every run", "rejected")
    mixed = {"a": {"modes": [stated(2, 30)]}, "b": {"modes": [stated(2, 30, "crate")]}}
    found = asked(tmp_path, market(workloads=mixed), platform="crate")
    assert (found.question, found.answer) == ("platform crate", "chosen")


def test_a_dearer_vendor_is_taken_as_little_as_possible(tmp_path: Path) -> None:
    """One box of each: 100 + 150 + 7 against 200. It wins at a price of 93 with its support of 7."""
    found = asked(tmp_path, vendor="Best")
    assert (found.answer, found.gap) == ("dearer", 57)
    assert {line.item: line.delta for line in found.gap_lines} == {"hardware": 50, "line:support": 7}
    assert [change.to for change in found.would_win_if if change.what == "price"] == [Decimal("0.6200")]


def test_a_winning_price_wins_and_a_little_more_does_not(tmp_path: Path) -> None:
    share = next(change.to for change in asked(tmp_path, vendor="Best").would_win_if if change.what == "price")
    assert isinstance(share, Decimal)
    for factor, answer in ((share, True), (share + Decimal("0.0002"), False)):
        other = market()
        best = quote(
            purchase(150 * factor, lines=[{"item": "support", "per": "node", "price": 7}]), "best", vendor="Best"
        )
        world = Frame(other.scenario, other.platforms, {**other.quotes, "best": best})
        assert (asked(tmp_path, world, vendor="Best").gap == 0) is answer


def test_an_earlier_delivery_would_win(tmp_path: Path) -> None:
    """Crates at 90 come on 2027-01-22: ten days are left and four of them are needed, 360 against two boxes at 100.

    A week earlier two of them would do, for 180; at 200 / 360 of the price four would.
    """
    modes = (stated(2, 30), stated(2, 16, "crate"), stated(4, 10, "crate"))
    crates = quote(purchase(90, platform="crate", lead_weeks=3), "crates", vendor="Crates")
    world = frame(
        quote(purchase(100)),
        crates,
        platforms=[platform(), platform("crate")],
        workloads=workload(*modes, deadline="2027-01-31"),
    )
    found = asked(tmp_path, world, platform="crate")
    assert (found.answer, found.gap) == ("dearer", 160)
    assert {(change.what, change.to) for change in found.would_win_if} == {
        ("price", Decimal("0.5555")),
        ("delivery", 1),
    }


def test_where_time_is_the_objective_the_gap_is_in_days_too(tmp_path: Path) -> None:
    """Crates come three weeks later; they cost 60 more."""
    found = asked(tmp_path, market(objective="time"), platform="crate")
    assert (found.answer, found.objective_gap, found.objective_unit, found.gap) == ("dearer", 21, "days", 60)
    assert not found.would_win_if


@pytest.mark.parametrize(
    ("question", "limit"),
    [({"platform": "tub"}, "price"), ({"vendor": "Tubs"}, "price"), ({"quote": "tubs/node"}, "price")],
)
def test_a_condition_rejects(question: dict[str, str], limit: str, tmp_path: Path) -> None:
    found = asked(tmp_path, **question)
    assert (found.answer, found.gap) == ("rejected", None)
    assert found.rejection is not None
    assert (found.rejection.limit, found.rejection.reason) == (limit, "price on request")
    assert not found.would_win_if  # no setting makes a price
    assert found.conflict is not None
    assert [item.name for item in found.conflict.limits] == [limit]


def test_a_limit_rejects_with_what_it_needs(tmp_path: Path) -> None:
    """Crates cost 260 and the budget is 230; with the money they would cost 60 more than two boxes."""
    world = market(budget={"total": 230})
    for question in ({"platform": "crate"}, {"vendor": "Crates"}, {"quote": "crates"}):
        found = asked(tmp_path, world, **question)
        assert found.rejection is not None
        assert (found.rejection.limit, found.rejection.needed, found.rejection.available) == ("budget", 260, 230)
        (change,) = found.would_win_if
        assert (change.what, change.to, change.set, change.alone, change.then) == (
            "budget", 260, "budget.total=260.00", True, 60,
        )  # fmt: skip
        assert applied(world, tmp_path, [str(change.set)], **question) == "dearer"
        assert applied(world, tmp_path, ["budget.total=259.99"], **question) == "rejected"


def applied(world: Frame, folder: Path, sets: list[str], **question: str) -> str:
    """Return the answer once changes are pasted."""
    path, library = written(world, folder)
    found = explain(path, library=library, sets=sets, options=OPTIONS, question=Question(**question))
    assert isinstance(found, Explanation)
    return found.answer


def test_the_next_limit_in_the_way_is_changed_too(tmp_path: Path) -> None:
    """Two crates cost 260 of 230, and take 10 kW each of 18: the first limit met is not the last."""
    hall = {"hall": site(power=[{"from": "2027-01-01", "kw": 18}])}
    small = platform("box", node_power_kw={"provisioned": 9, "training": 8, "idle": 2})
    world = market(budget={"total": 230}, sites=hall)
    world = Frame(world.scenario, {**world.platforms, "box": small}, world.quotes)
    for question in ({"platform": "crate"}, {"vendor": "Crates"}, {"quote": "crates/node"}):
        found = asked(tmp_path, world, **question)
        assert found.answer == "rejected"
        assert {change.what: (change.from_, change.to, change.alone) for change in found.would_win_if} == {
            "power": (18, 20, False), "budget": (230, 260, False),
        }  # fmt: skip
        assert {change.then for change in found.would_win_if} == {Decimal(60)}
        sets = [str(change.set) for change in found.would_win_if]
        assert applied(world, tmp_path, sets, **question) == "dearer"
        for place, less in enumerate(("budget.total=259.99", "sites.hall.power.0.kw=19.999")):
            fewer = [*sets[:place], less, *sets[place + 1 :]]
            assert {text.partition("=")[0] for text in fewer} == {text.partition("=")[0] for text in sets}
            assert applied(world, tmp_path, fewer, **question) == "rejected"


def test_unknown_names_and_two_questions_are_refused(tmp_path: Path) -> None:
    for question in ({"platform": "bux"}, {"vendor": "Acne"}, {"quote": "z"}, {"platform": "box", "vendor": "Acme"}):
        with pytest.raises(InputError):
            asked(tmp_path, **question)
    with pytest.raises(InputError, match="budgte"):
        explain(loaded(market(), tmp_path), options=OPTIONS, pinned=["budgte"])


def test_an_infeasible_scenario_answers_with_its_conflict_whatever_is_asked(tmp_path: Path) -> None:
    world = loaded(market(budget={"total": 199}), tmp_path)
    found = explain(world, options=OPTIONS, question=Question(platform="crate"))
    assert isinstance(found, Conflict)
    assert [change.set for change in found.relaxations] == ["budget.total=200.00"]


def test_out_of_time_nothing_is_claimed(tmp_path: Path) -> None:
    """What arithmetic alone tells is still told, as the least and without a cure; else there is no answer."""
    moment = SolveOptions(workers=1, time_limit_s=1e-6)
    found = explain(loaded(market(budget={"total": 199}), tmp_path), options=moment)
    assert isinstance(found, Conflict)
    assert ([limit.name for limit in found.limits], found.cut_short, found.relaxations) == (["budget"], True, ())
    with pytest.raises(UndecidedError, match="raise --time-limit"):
        explain(loaded(market(), tmp_path), options=moment)


def test_what_one_more_unit_is_worth(tmp_path: Path) -> None:
    """Boxes at 100 for 30 days, or one box for 50 days, after the deadline: 30 days more save one box."""
    world = frame(
        quote(purchase(100)),
        workloads=workload(stated(2, 30), stated(1, 50), deadline="2027-02-10"),
        budget={"total": 250},
        sites={"hall": site(power=[{"from": "2027-01-01", "kw": 30}])},
    )
    found = explain(loaded(world, tmp_path), options=OPTIONS, worth=True)
    assert isinstance(found, Explanation)
    assert {item.limit: item.worth for item in found.worth} == {"power": 0, "budget": 0, "deadline": 100}
    assert {item.set for item in found.worth} == {
        "sites.hall.power.0.kw=1030", "budget.total=1000250", "workloads.train.deadline=2027-03-12",
    }  # fmt: skip


def test_why_this_many_nodes(tmp_path: Path) -> None:
    """30 days are left: 2 boxes take them, 1 takes 50; the quote sells at least 3."""
    modes = (stated(1, 50), stated(2, 30), stated(4, 20))
    world = frame(quote(purchase(100, units={"min": 3})), workloads=workload(*modes, deadline="2027-01-30"))
    on = bench(world, tmp_path)
    choice = on.decide(on.prepared(), unique=True).choice
    assert choice is not None
    needs = {need.limit: (need.nodes, need.binds) for need in why_nodes(choice, on)}
    assert needs == {
        "deadline": (2, True), "spares": (2, False), "minimum_order": (3, True), "chosen": (3, False),
    }  # fmt: skip


def test_a_price_break_can_be_why_more_are_bought(tmp_path: Path) -> None:
    """Three boxes at 10 cost less than two at 100."""
    tier = {"all_units": {1: 100, 3: 10}}
    world = frame(quote(purchase(tier)), workloads=workload(stated(2, 30)))
    on = bench(world, tmp_path)
    choice = on.decide(on.prepared(), unique=True).choice
    assert choice is not None
    binding = {need.limit: need.nodes for need in why_nodes(choice, on) if need.binds}
    assert binding == {"deadline": 2, "tier": 3}


def test_rejections_by_limit_the_ones_to_act_on_first() -> None:
    def refused(name: str, limit: Any, needed: object = None, available: object = None) -> Rejection:
        facts = {"platform": name, "limit": limit, "needed": needed, "available": available, "unit": ""}
        return Rejection.model_validate(facts | {"reason": f"{name} {limit}"})

    groups = grouped([
        refused("a", "specification"), refused("b", "memory", 60, 20), refused("c", "memory", 30, 20),
        refused("d", "expired", "2027-02-01", "2027-01-01"), refused("e", "supply", 21, 20),
    ])  # fmt: skip
    assert [(group.limit, group.count) for group in groups] == [
        ("expired", 1), ("supply", 1), ("memory", 2), ("specification", 1),
    ]  # fmt: skip
    assert groups[2].reason == "c memory"
