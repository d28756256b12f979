"""A framework is loaded only by who uses its adapter, and its absence is said with the way out."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import holdfast

ROOT = Path(holdfast.__file__).parents[2]
# By module: the package that it needs, and the extra that brings it.
FRAMEWORKS = {
    "langgraph": ("langgraph", "langgraph"),
    "langchain": ("langchain_core", "langgraph"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "llama_index": ("llama_index", "llama-index"),
    "google_adk": ("google.adk", "google-adk"),
    "smolagents": ("smolagents", "smolagents"),
    "anthropic_memory": ("anthropic", "anthropic"),
}
OF_ALL = {"__init__", "hubs", "mem0"}


def test_every_adapter_is_tested_here() -> None:
    modules = {path.stem for path in (ROOT / "src/holdfast/adapters").glob("*.py")}
    assert modules == set(FRAMEWORKS) | OF_ALL


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_without_the_framework_the_error_says_how_to_get_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, extra = FRAMEWORKS[name]
    module = f"holdfast.adapters.{name}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    for loaded in [one for one in sys.modules if f"{one}.".startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'pip install "holdfast-memory\[{extra}\]"'):
        importlib.import_module(module)


def test_every_extra_is_there() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    assert {extra for _, extra in FRAMEWORKS.values()} <= set(extras)


def test_the_library_and_a_framework_free_adapter_load_no_framework() -> None:
    packages = sorted({package for package, _ in FRAMEWORKS.values()})
    code = (
        "import sys, holdfast.adapters.mem0, holdfast.adapters.hubs\n"
        f"print([name for name in {packages!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
