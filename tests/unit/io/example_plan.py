"""A small plan made by hand; its numbers are chosen for rounding, not to add up."""

from __future__ import annotations

from typing import Any

from optimizer.results import Plan

LAYOUT = {
    "tensor_parallel": 2,
    "data_parallel": 16,
    "global_batch": 512,
    "precision": "fp8",
}


def example_plan(currency: str = "USD", **changes: Any) -> Plan:
    """Return the plan with top-level keys changed."""
    money = {"currency": currency, "unit": currency}
    data: dict[str, Any] = {
        "scenario": "small",
        "status": "optimal",
        "objective": {"kind": "cost", "value": "1200.125", "bound": "1200.125", "gap": "0", **money},
        "solve": {
            "solver": "cp-sat", "wall_s": 1.25, "seed": 0, "workers": 2, "candidates": 3, "layouts_evaluated": 99,
            "proof": "bound equals value",
        },
        "workloads": [
            {
                "name": "pretrain", "architecture": "llama-3-1-8b", "platform": "h200-sxm", "place": "hall-a",
                "pool": "h200-sxm@hall-a", "nodes": 4, "accelerators": 32, "layout": LAYOUT, "step_time_s": 3.5,
                "tokens_per_s_per_accelerator": 9000.0, "mfu": 0.41, "memory_gb": 99.0, "memory_limit_gb": 150.7,
                "goodput": 0.97, "start": "2027-03-01", "end": "2027-06-08", "days": 100, "evidence": "public_run",
                "band": {"low_days": 90, "high_days": 112},
            }
        ],
        "awards": [
            {
                "quote": "acme-1", "offer": "node", "vendor": "Acme", "platform": "h200-sxm", "type": "purchase",
                "place": "hall-a", "units": 4, "nodes": 4, "accelerators": 32, "unit_price": "2.3456",
                "currency": currency, "tier": 1, "order_date": "2026-12-15", "delivery_date": "2027-02-09",
                "contract_end": None, "cost": "1234.565",
            }
        ],
        "cost": {
            "currency": currency, "total": "1234.565", "npv": "1200.125",
            "after_run": [
                {"policy": "idle", "total": "1234.565", "npv": "1200.125"},
                {"policy": "use", "total": None, "npv": None},
            ],
            "lines": [
                {
                    "item": "hardware", "amount": "1234.565",
                    "factors": [
                        {"name": "units", "value": 4, "unit": "node", "source": "plan"},
                        {"name": "price", "value": "0.12345", "unit": currency, "source": "acme-1"},
                    ],
                }
            ],
            "by_fiscal_year": {"2026": "1234.565"},
            "cash": [{"date": "2026-12-15", "amount": "1234.565", "item": "hardware"}],
        },
        "limits": [
            {
                "name": "budget", "used": "1234.565", "available": 5000, "unit": currency, "slack": "3765.435",
                "binding": True, "period": None,
            },
            {
                "name": "power", "used": "12.3456", "available": 100, "unit": "kW", "slack": "87.6544",
                "binding": None, "period": "2027-03-01",
            },
        ],
        "rejections": [
            {
                "platform": "b200-hgx", "vendor": None, "quote": None, "limit": "offer", "needed": 1, "available": 0,
                "unit": "offers", "reason": "no quote offers it",
            }
        ],
        "conflict": None,
        "analyses": {},
        "provenance": {
            "version": "0.1.0", "ortools": "9.15", "today": "2026-11-30", "inputs": [],
            "assumptions": [{"name": "horizon_months", "value": "36", "source": "default"}],
        },
    }  # fmt: skip
    return Plan.model_validate({**data, **changes})
