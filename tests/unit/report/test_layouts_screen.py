"""Ranked and predicted layouts as people see them."""

from __future__ import annotations

from optimizer.candidates.nearest import Change, Shortage
from optimizer.candidates.ranking import Prediction, Ranking
from optimizer.report.layouts import layout_screen, layouts_screen
from optimizer.results import Layout, LayoutRow
from tests.unit.report.test_console import text

LAYOUT = Layout(tensor_parallel=2, data_parallel=16, global_batch=512, recompute="full", sharding_stage=3)
ROW = LayoutRow(
    nodes=4, accelerators=32, layout=LAYOUT, step_time_s=3.5, tokens_per_s_per_accelerator=9000.4, mfu=0.412,
    memory_gb=149.04, memory_limit_gb=150.7, headroom_gb=-17.3, verdict="does_not_fit", memory={"weights": 10.0},
    time={"gemm": 3.0},
)  # fmt: skip
CHANGE = Change(what="micro_batch", from_=4, to=1, layout=LAYOUT, step_time_s=3.9, memory_gb=99.0)


def test_ties_and_headroom():
    second = ROW.model_copy(update={"step_time_s": 3.57, "verdict": "fits", "headroom_gb": 12.34})
    shown = text(layouts_screen(Ranking(rows=(ROW, second), evaluated=1200, fitting=7, tied=5, wall_s=0.02)))
    for part in (
        "TP 2 · DP 16, micro-batch 1, batch 512, ZeRO-3, full recompute", "41.2 %", "does not fit", "+2.0 %", "12.3",
        "1,200 layouts, 7 fit", "5 within 1.3 % of the fastest",
    ):  # fmt: skip
        assert part in shown


def test_nothing_fits_says_by_how_much_and_what_would():
    more = CHANGE.model_copy(update={"what": "accelerators", "from_": 8, "to": 16})
    short = Shortage(needed_gb=201.5, available_gb=150.7, short_by_gb=50.8, changes=(more,))
    shown = text(layouts_screen(Ranking(rows=(ROW,), evaluated=12, fitting=0, tied=0, wall_s=0.0, nothing_fits=short)))
    assert "needs 201.5 GB per accelerator with reserve, 150.7 are there, 50.8 are missing." in shown
    assert "fits on 16 accelerators instead of 8: TP 2" in shown
    nothing = short.model_copy(update={"changes": ()})
    shown = text(
        layouts_screen(Ranking(rows=(ROW,), evaluated=12, fitting=0, tied=0, wall_s=0.0, nothing_fits=nothing))
    )
    assert "None of the changes tried fits" in shown


def test_a_prediction_shows_components_and_what_would_fit():
    shown = text(layout_screen(Prediction(**ROW.__dict__, changes=(CHANGE,))))
    for part in ("weights", "gemm", "17.3 GB too much; it fits with one of:", "micro batch", "4 -> 1", "99.0 GB"):
        assert part in shown
    assert "no single change of this layout fits" in text(layout_screen(Prediction(**ROW.__dict__, changes=())))
    roomy = ROW.model_copy(update={"verdict": "fits", "headroom_gb": 3.21})
    assert "3.2 GB of headroom" in text(layout_screen(Prediction(**roomy.__dict__, changes=())))
