"""How the client repeats its own calls. Pure: time and chance are parameters.

Every call of the API may be sent again (a create carries its id, a claim its `claim_id`, a report
its token), so whatever looks temporary is repeated: broken connections, 408, 429 and 5xx, with
growing pauses spread by chance, and never earlier than a `Retry-After` asks. Times are seconds.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime

#: The pause before the first repeat; each further one is twice as long.
PAUSE_FIRST = 0.05
#: The longest pause that the client chooses by itself.
PAUSE_MAX = 2.0
#: The longest wait that a `Retry-After` is understood to ask for.
ASKED_MAX = 365 * 86_400.0


def is_temporary(status: int) -> bool:
    """Whether an answer with this status says that the same request may succeed later."""
    return status in (408, 429) or 500 <= status <= 599


def pause(repeat: int, asked: float | None, chance: float) -> float:
    """The pause before repeat number `repeat`, from 1.

    `chance` is in 0..1 and shortens the client's own pause to no less than half; what the server
    asked for is only ever lengthened, by up to a quarter of it or `PAUSE_MAX`, so that callers who
    were told the same time part.
    """
    doubled = PAUSE_FIRST * float(1 << min(max(repeat - 1, 0), 16))
    own = min(doubled, PAUSE_MAX) * (1 - chance / 2)
    if asked is None:
        return own
    return max(asked + min(asked / 4, PAUSE_MAX) * chance, own)


def retry_after(value: str, now: float) -> float | None:
    """The wait that a `Retry-After` header asks for: seconds, or a date; `now` in Unix time."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value), ASKED_MAX)
    try:
        at = parsedate_to_datetime(value)
        return min(max(at.timestamp() - now, 0.0), ASKED_MAX)
    except (ValueError, TypeError, OverflowError):
        return None
