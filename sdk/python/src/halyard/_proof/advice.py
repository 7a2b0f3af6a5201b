"""What to do about a finding, as far as the runs have shown it."""

from __future__ import annotations

from typing import Any

from .running import End
from .ways import Played, Way


def on_effect(way: Way, played: Played, expected: Any, got: Any) -> str | None:
    """A sentence on how to mend it; None when the runs do not show a cause."""
    more, less = _amount(expected, got)
    if way.is_kill:
        return _after_kill(way, played, less)
    if way.name == "overlapping" and more:
        return (
            "two runs at once both found that it was not done yet; a look beforehand cannot tell, "
            "so let what is written decide: a unique constraint, or a key that the provider knows"
        )
    if way.name in ("twice", "retried by hand") and more:
        return (
            "the second run did it all again; make the write an upsert under a unique constraint, "
            "and give every outside call a key: job.id, or job.key_for(name)"
        )
    return None


def _after_kill(way: Way, played: Played, less: bool) -> str | None:
    point = way.point
    if less and point is not None and point.is_after_checkpoint:
        return (
            "the run after the kill took the work for done; write the checkpoint after its work, "
            f"not before it (the kill was {point})"
        )
    if less:
        return (
            f"the kill {point} came before the work was done, and the next run took it for done; "
            "record it after it is done, not before"
        )
    if point in played.second:
        return (
            f"the next run did it again and came by once more ({point}); what it did had no key, "
            "or another key each time: pass job.id, or job.key_for(name)"
        )
    return None


#: Errors of what is looked up where it is not.
_MISSING = ("KeyError:", "AttributeError:", "NameError:", "IndexError:", "UnboundLocalError:")


def on_never(way: Way, said: str, is_loaded_anew: bool) -> str | None:
    """A sentence for a handler that does not come to an end any more, and says this."""
    if not way.is_kill:
        return None
    if is_loaded_anew and said.startswith(_MISSING):
        return (
            f"the run after the kill {way.point} did not find what the run before had; what a "
            "handler keeps in variables of its module is lost with its process, so keep it with a "
            "checkpoint or in a store"
        )
    return (
        f"the run that was killed {way.point} left something that stops the next one; a process "
        "that dies runs no destructor and no `finally`, so what marks work as begun must end by "
        "itself or be taken over"
    )


def on_clean_run(end: End) -> str:
    """A sentence for a clean run that fails where it was to complete, or the other way round."""
    if end.kind == "completed":
        return "correct the payload, so that the handler refuses it; or take `expect_failure` away"
    return (
        "a job that fails did nothing that could be done twice; correct the payload, or what "
        "`reset` leaves in the world, so that the handler completes; if the job is to fail, say so "
        "with `expect_failure=True`"
    )


def _amount(expected: Any, got: Any) -> tuple[bool, bool]:
    """Whether there is more than there should be, and whether there is less."""
    if isinstance(expected, list) and isinstance(got, list):
        return len(got) > len(expected), len(got) < len(expected)
    if isinstance(expected, (int, float)) and isinstance(got, (int, float)):
        return got > expected, got < expected
    return False, False
