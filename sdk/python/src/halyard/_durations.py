"""Durations as callers give them: seconds, or a `timedelta`."""

from __future__ import annotations

import math
from datetime import timedelta

from .errors import SettingsError

#: A duration: seconds, or a `timedelta`.
Duration = float | int | timedelta

#: No time that a caller sets is longer than this: a hundred years are for ever.
SECONDS_MAX = 100 * 365 * 86_400.0


def seconds(name: str, duration: Duration) -> float:
    """The duration in seconds, at most a hundred years; `name` is for the error."""
    if isinstance(duration, timedelta):
        value = duration.total_seconds()
    elif isinstance(duration, (int, float)) and not isinstance(duration, bool):
        value = float(duration)
    else:
        raise SettingsError(f"{name} is seconds or a timedelta, not {type(duration).__name__}")
    if math.isnan(value) or value < 0:
        raise SettingsError(f"{name} is {value:g} s, and a duration is 0 or more")
    return min(value, SECONDS_MAX)


def milliseconds(name: str, duration: Duration) -> int:
    """The duration in whole milliseconds; `name` is for the error."""
    return round(seconds(name, duration) * 1000)
