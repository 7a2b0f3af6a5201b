"""Generated files are fresh, and the files keep to the rules of the house."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import halyard
import halyard.processed
import halyard.testing

TOP = Path(__file__).resolve().parent.parent
#: Lines of a file, and of a function.
FILE_LINES_MAX, FUNCTION_LINES_MAX = 400, 70

FILES = [
    path
    for folder in ("src", "tests", "scripts", "examples")
    for path in sorted((TOP / folder).rglob("*.py"))
    if path.name != "wire.py" or path.parent.name != "_generated"
]


SCRIPTS = ["make_reference.py", "make_statements.py", "make_sync.py", "make_wire.py"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_generated_files_are_fresh(script: str) -> None:
    command = [sys.executable, str(TOP / "scripts" / script), "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


REFERENCE = (TOP.parent.parent / "docs" / "reference" / "python.md").read_text()


def test_the_tables_of_the_reference_are_whole() -> None:
    rows = [line for line in REFERENCE.splitlines() if line.startswith("|")]
    assert rows
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)][1:-1]
        assert len(cells) == 2, row
        # A row that goes on in the next one has no name there.
        assert cells[0] or not cells[1], row


def test_the_reference_says_what_is_awaited() -> None:
    told = re.findall(r"(?s)\n### (Async\w+)\n((?:(?!\n###).)*)", REFERENCE)
    assert len(told) > 8
    for name, section in told:
        kind = next(
            getattr(module, name)
            for module in (halyard, halyard.processed, halyard.testing)
            if hasattr(module, name)
        )
        said = re.search(r"its calls are awaited(?:, but not ([^.;]*))?", section)
        assert said is not None, name
        plain = {
            method
            for method, value in vars(kind).items()
            if inspect.isfunction(value) and not method.startswith("_")
            if not inspect.iscoroutinefunction(value)
        }
        assert plain <= set(re.findall(r"`(\w+)`", said[1] or "")), name


def test_the_reference_makes_nothing_that_the_sdk_makes() -> None:
    assert "calls: Calls" not in REFERENCE


def test_the_version_is_the_server_s() -> None:
    manifest = (TOP.parent.parent / "Cargo.toml").read_text()
    assert f'\nversion = "{halyard.__version__}"\n' in manifest


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TOP)))
def test_files(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= FILE_LINES_MAX
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a file opens with its front page"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            # A docstring of a call with many settings is its reference.
            docstring = ast.get_docstring(node)
            lines -= len((docstring or "").splitlines())
            assert lines <= FUNCTION_LINES_MAX, node.name
