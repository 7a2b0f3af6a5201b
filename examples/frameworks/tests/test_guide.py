"""The guide shows what the programs do: each of its lines is a line of a program."""

from __future__ import annotations

import pytest
from running import EXAMPLES

GUIDE = EXAMPLES.parent.parent / "docs" / "guides" / "frameworks.md"
SUFFIXES = {"js": "*.js", "python": "*.py", "rust": "*.rs"}


def shown() -> list[tuple[str, list[str]]]:
    """The language and the lines of each program that the guide shows."""
    blocks = GUIDE.read_text().split("\n```")[1::2]
    pairs = [(block.partition("\n")[0], block.splitlines()[1:]) for block in blocks]
    return [(language, lines) for language, lines in pairs if language in SUFFIXES]


def of_one_program(lines: list[str], language: str) -> bool:
    """Whether some program has all these lines, in this order; `…` stands for what is left out."""
    for path in EXAMPLES.rglob(SUFFIXES[language]):
        if "node_modules" in path.parts or ".next" in path.parts:
            continue
        rest = iter([line.strip() for line in path.read_text().splitlines()])
        if all(line in rest for line in map(str.strip, lines) if line.strip("/# …")):
            return True
    return False


def test_it_shows_every_framework() -> None:
    assert len(shown()) >= 9


@pytest.mark.parametrize(
    ("language", "lines"), shown(), ids=lambda value: value if isinstance(value, str) else value[0]
)
def test_what_it_shows_is_in_a_program(language: str, lines: list[str]) -> None:
    assert of_one_program(lines, language), "\n".join(lines)
