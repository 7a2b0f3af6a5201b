"""Generated files are fresh, and the files keep to the rules of the house."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import halyard

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
