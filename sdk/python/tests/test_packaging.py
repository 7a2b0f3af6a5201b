"""The package as others get it: a wheel in an empty environment, with its types."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import halyard
from halyard.testing import Server

TOP = Path(__file__).resolve().parent.parent
SAMPLE = TOP / "tests" / "packaged" / "sample.py"


def run(*command: str | Path, **settings: object) -> str:
    """Runs a program and answers with what it prints."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "HALYARD_URL")}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env=environment,
        **settings,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from here."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=TOP)
    (built,) = folder.glob("*.whl")
    return built


def test_what_is_in_it(wheel: Path) -> None:
    assert wheel.name == f"halyard-{halyard.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"halyard-{halyard.__version__}.dist-info/METADATA").decode()
    sources = {
        str(path.relative_to(TOP / "src"))
        for path in (TOP / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources <= names
    assert "halyard/py.typed" in names
    assert not [name for name in names if name.startswith(("tests", "scripts"))]
    assert "Requires-Dist" not in metadata, "nothing but Python is needed"
    assert "Requires-Python: >=3.11" in metadata


def test_a_job_from_an_empty_environment(wheel: Path, tmp_path: Path, server: Server) -> None:
    place = tmp_path / "venv"
    # Our own pip fills it: to unpack another one takes longer than all the rest.
    venv.create(place, with_pip=False)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-index", wheel, cwd=tmp_path)
    printed = run(python, "-W", "error", "-X", "dev", SAMPLE, server.url, cwd=tmp_path)
    assert printed.splitlines() == ["completed charged 3", halyard.__version__]
    mypy: list[str | Path] = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        python,
    ]
    assert "Success" in run(*mypy, "--cache-dir", tmp_path / "cache", SAMPLE, cwd=tmp_path)
