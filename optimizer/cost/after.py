"""What the fleet does after the last run, and until when each cost goes on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from optimizer.cost.frame import DAY, Frame
from optimizer.cost.option import Option

Policy = Literal["idle", "off", "sell", "use"]
POLICIES: tuple[Policy, ...] = ("idle", "off", "sell", "use")


@dataclass(frozen=True, slots=True)
class After:
    """An after-run policy together with the last day of the last run.

    Attributes:
        policy: idle, off, sell or use.
        last_run: Last day of the last run of the plan.
    """

    policy: Policy
    last_run: dt.date

    @property
    def matters(self) -> bool:
        """Whether recurring costs depend on the day of the last run."""
        return self.policy in ("off", "sell")

    def last_day_of_energy(self, option: Option | None, frame: Frame) -> dt.date:
        """Return the last day units of an option (None: owned nodes) draw power."""
        end = option.last_day(frame) if option else frame.last_day
        sold = self.policy == "sell" and (option is None or option.is_purchase)
        return min(end, self.last_run) if self.policy == "off" or sold else end

    def last_day_of_costs(self, option: Option | None, frame: Frame) -> dt.date:
        """Return the last day of hall and recurring costs of an option (None: owned nodes)."""
        end = option.last_day(frame) if option else frame.last_day
        sold = self.policy == "sell" and (option is None or option.is_purchase)
        return min(end, self.last_run) if sold else end

    def last_shared_day(self, frame: Frame) -> dt.date:
        """Return the last day cluster and platform entries may go on."""
        return min(frame.last_day, self.last_run) if self.policy == "sell" else frame.last_day

    def sale_day(self, frame: Frame) -> dt.date:
        """Return the day purchased hardware is worth its residual."""
        return min(self.last_run + DAY, frame.horizon) if self.policy == "sell" else frame.horizon
