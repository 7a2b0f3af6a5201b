"""What a proof has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import advice
from .difference import differences, text, told
from .running import End
from .ways import CLEAN, Played, Way


@dataclass(slots=True)
class Finding:
    """One effect that is not as it should be, and the shortest way to see it."""

    #: The kind of way, such as `twice`, `killed` or `overlapping`; `clean` when the run without any
    #: fault did not end as it should, and nothing was proved.
    way: str
    #: What was done, such as "run, killed at `charged`, run again".
    sequence: str
    #: The member of the world that differs; None when it is the end that is wrong.
    effect: str | None
    #: What the clean run left there.
    expected: Any
    #: What this way left there.
    got: Any
    #: What is wrong, in a sentence.
    message: str
    #: How to mend it, when the runs show that.
    advice: str | None
    #: How many other ways show it too.
    more: int = 0


@dataclass(slots=True)
class Report:
    """What a proof has found. As text it is for people: `assert report.ok, report`."""

    #: In how many ways the handler was run.
    ways: int
    #: The points of the clean run, in order.
    points: list[str]
    #: What is wrong, one for each effect, those with the shortest sequence first.
    findings: list[Finding] = field(default_factory=list)
    #: What could not be checked.
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every way left the world as the clean run did."""
        return not self.findings

    def check(self) -> None:
        """Raises AssertionError with the report, unless all is well."""
        if not self.ok:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        points = f"{len(self.points)} points: {', '.join(self.points)}"
        if not self.points:
            points = "no points"
        elif len(self.points) == 1:
            points = f"one point: {self.points[0]}"
        head = f"idempotent: run in {self.ways} ways, with {points}"
        if self.findings and self.findings[0].way == CLEAN.name:
            head = "nothing proved: one clean run, without any fault, did not end as it should, so "
            head += f"no other way was tried; it passed {points}"
        elif self.findings:
            effects = "effect" if len(self.findings) == 1 else "effects"
            head = f"{len(self.findings)} {effects} wrong, in {self.ways} ways to run it"
            head = f"not idempotent: {head}, with {points}"
        parts = [head, *(_told(number, one) for number, one in enumerate(self.findings, 1))]
        notes = "".join(f"\nnote: {note}" for note in self.notes)
        return "\n\n".join(parts) + notes


def _told(number: int, finding: Finding) -> str:
    ways = "way" if finding.more == 1 else "ways"
    more = f" (and {finding.more} more {ways})" if finding.more else ""
    lines = [f"{number}. {finding.message}{more}"]
    if finding.effect is not None:
        lines += [f"   expected: {text(finding.expected)}", f"   got:      {text(finding.got)}"]
    if finding.advice is not None:
        lines.append(f"   advice:   {finding.advice}")
    return "\n".join(lines)


class Findings:
    """Collects what the ways show."""

    def __init__(self, clean: Played, world: Any, note: str | None, expect_failure: bool) -> None:
        """With the clean run. One that ends otherwise than expected is a finding, and nothing else
        is tried.
        """
        self._clean = clean.end
        self._world = world
        # Without a note, the handler's module is loaded anew for each process.
        self._is_loaded_anew = note is None
        points = [str(point) for point in clean.first]
        self.report = Report(1, points, notes=[] if note is None else [note])
        if clean.end.kind == "never":
            self._note_end(CLEAN, clean.end)
        elif (clean.end.kind == "failed") != expect_failure:
            # A payload that does not fit, say: then nothing was done that could be done twice.
            self._note_clean_run(clean.end)
        elif clean.end.kind == "failed":
            self.report.notes.append(f"the clean run failed, as expected: {clean.end.said}")

    def note(self, way: Way, played: Played, world: Any) -> None:
        """Takes down what a way came to."""
        self.report.ways += 1
        kinds = (self._clean.kind, played.end.kind)
        if kinds[1] == "never" or kinds == ("completed", "failed"):
            # What such a run left undone says nothing more.
            self._note_end(way, played.end)
            return
        for one in differences(self._world, world):
            named = "the world" if one.effect is None else f"`{one.effect}`"
            message = f"{told(named, one.expected, one.got)}, after: {way}"
            advised = advice.on_effect(way, played, one.expected, one.got)
            effect = one.effect or "world"
            self._add(Finding(way.name, str(way), effect, one.expected, one.got, message, advised))

    def _note_end(self, way: Way, end: End) -> None:
        never = "never completes" if end.kind == "never" else "fails for good"
        message = f"{never}: {way}: {end.said}"
        advised = advice.on_never(way, end.said, self._is_loaded_anew)
        self._add(Finding(way.name, str(way), None, None, None, message, advised))

    def _note_clean_run(self, end: End) -> None:
        """The clean run failed where it was to complete, or the other way round."""
        message = f"the clean run fails for good, so nothing was proved: {end.said}"
        if end.kind == "completed":
            message = "the clean run completes, but was expected to fail, so nothing was proved"
        advised = advice.on_clean_run(end)
        self._add(Finding(CLEAN.name, str(CLEAN), None, None, None, message, advised))

    def _add(self, finding: Finding) -> None:
        """One finding for each effect: the first stands, the others are counted."""
        for first in self.report.findings:
            if first.effect == finding.effect:
                first.more += 1
                return
        self.report.findings.append(finding)
