"""What the wheel holds, and that its description is the package's own."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import holdfast

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "holdfast"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("dist")
    built = next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
    return zipfile.ZipFile(built)


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    files = {
        f"holdfast/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files == {name for name in wheel.namelist() if name.startswith("holdfast/")}


def test_the_source_distribution_has_no_weights_of_the_model(tmp_path: Path) -> None:
    from hatchling.builders.sdist import SdistBuilder

    built = next(SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with tarfile.open(built) as archive:
        parts = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"src", "tests", "docs"} <= parts
    assert not parts & {"packages", "bench", "dist", "build"}


def test_the_version_is_the_same_in_both_places() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == holdfast.__version__


def test_both_commands_of_the_wheel_lead_to_the_command_line(wheel: zipfile.ZipFile) -> None:
    name = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    scripts = wheel.read(name).decode().partition("[holdfast.")[0]
    assert "holdfast = holdfast.edges.cli:run" in scripts
    assert "holdfast-memory = holdfast.edges.cli:run" in scripts


def test_an_install_brings_the_model_but_no_database_driver(wheel: zipfile.ZipFile) -> None:
    name = next(name for name in wheel.namelist() if name.endswith("METADATA"))
    required = [
        line
        for line in wheel.read(name).decode().splitlines()
        if line.startswith("Requires-Dist:") and "extra ==" not in line
    ]
    assert any("holdfast-memory-model" in line for line in required)
    assert not any("psycopg" in line or "anthropic" in line for line in required)
