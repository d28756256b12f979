"""From the words of a setting to an embedder."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from holdfast.embed import providers
from holdfast.embed.providers import FORMS, MISSING_MODEL, find_embedder
from holdfast.errors import EmbedderError, InvalidSetting


class Fake:
    identity = "fake/1"
    dimensions = 2

    def __init__(self, threads: int) -> None:
        self.threads = threads


def make_fake(*, threads: int) -> Fake:
    return Fake(threads)


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> dict[str, EntryPoint]:
    """What is installed, instead of what is installed here."""
    chosen: dict[str, EntryPoint] = {}
    monkeypatch.setattr(providers, "_entry_points", lambda: chosen)
    monkeypatch.setattr(providers, "_has_own", lambda: False)
    return chosen


def point(name: str, value: str = f"{__name__}:make_fake") -> EntryPoint:
    return EntryPoint(name, value, providers.GROUP)


@pytest.mark.parametrize("spec", ["", "auto", "  auto "])
def test_auto_is_none_where_no_model_is_installed(points: dict[str, EntryPoint], spec: str) -> None:
    assert find_embedder(spec) is None


def test_none_is_none_even_where_a_model_is_installed(points: dict[str, EntryPoint]) -> None:
    points["embed-s"] = point("embed-s")
    assert find_embedder("none") is None


def test_auto_takes_what_is_installed_and_prefers_the_bundled_model(
    points: dict[str, EntryPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    monkeypatch.setattr(providers, "_load", lambda name, found, threads: taken.append(name))
    points["b"] = point("b")
    find_embedder("auto")
    points["a"] = point("a")
    find_embedder("auto")
    points["embed-s"] = point("embed-s")
    find_embedder("")
    assert taken == ["b", "a", "embed-s"]


def test_the_bundled_model_is_found_without_a_look_at_every_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(providers, "_has_own", lambda: True)
    monkeypatch.setattr(providers, "_entry_points", lambda: pytest.fail("looked"))
    monkeypatch.setitem(
        sys.modules,
        "holdfast_embed_s",
        SimpleNamespace(load=make_fake),  # type: ignore[arg-type]
    )
    found = find_embedder("auto", threads=3)
    assert isinstance(found, Fake)
    assert found.threads == 3


def test_an_installed_embedder_is_found_by_name_and_given_its_threads(
    points: dict[str, EntryPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fake_embedder_module", sys.modules[__name__])
    points["mine"] = point("mine", "fake_embedder_module:make_fake")
    found = find_embedder("mine", threads=5)
    assert isinstance(found, Fake)
    assert found.threads == 5


def test_a_broken_installed_embedder_is_an_error_with_advice(
    points: dict[str, EntryPoint],
) -> None:
    points["mine"] = point("mine", "no_such_module_here:load")
    with pytest.raises(EmbedderError, match=r"mine cannot be loaded.*Install its package again"):
        find_embedder("mine")


@pytest.mark.parametrize(
    "spec",
    [
        "nonsense",
        "openai:",
        "openai:model",
        "openai:@http://h/v1",
        "openai:m@localhost",
        "fastembed:",
        "path:",
        "auto:x",
        "none:",
        "x:y",
        ":",
    ],
)
def test_a_setting_of_no_known_form_names_the_forms(
    points: dict[str, EntryPoint], spec: str
) -> None:
    with pytest.raises(InvalidSetting) as caught:
        find_embedder(spec)
    assert FORMS in str(caught.value)


def test_a_password_in_a_setting_is_not_repeated(points: dict[str, EntryPoint]) -> None:
    for spec in ("openai:m@http://me:hunter2@host/v1", "openia:m@http://me:hunter2@host/v1"):
        with pytest.raises(InvalidSetting) as caught:
            find_embedder(spec)
        assert "hunter2" not in str(caught.value)


def test_each_form_gives_its_embedder() -> None:
    specs = {
        "openai:me@home@http://localhost:1/v1": (
            "openai:me@home@http://localhost:1/v1/embeddings/8"
        ),
        "fastembed:some/model": "fastembed:some/model",
        "sentence-transformers:some/model": "sentence-transformers:some/model",
    }
    for spec, identity in specs.items():
        found = find_embedder(spec, dimensions=8)
        assert found is not None
        assert found.identity == identity


def test_a_folder_without_a_model_is_refused_with_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"model\.onnx and vocab\.txt, or vectors\.npz"):
        find_embedder(f"path:{tmp_path}")


def test_a_folder_with_a_model_is_served_and_known_by_its_contents(tmp_path: Path) -> None:
    identities = []
    for name, contents in (("a", b"one"), ("b", b"one"), ("c", b"two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(contents)
        (tmp_path / name / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n")
        found = find_embedder(f"path:{tmp_path / name}")
        assert found is not None
        identities.append(found.identity)
    assert identities[0] == identities[1] != identities[2]


def test_a_broken_model_file_is_an_error_with_advice(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n")
    found = find_embedder(f"path:{tmp_path}")
    assert found is not None
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        found.embed_query("x")
    assert capfd.readouterr() == ("", "")


def test_the_message_about_a_missing_model_says_what_happens_and_what_to_do() -> None:
    assert "words alone" in MISSING_MODEL
    assert "pip install ./packages/holdfast-memory-model" in MISSING_MODEL
    folder = Path(__file__).parents[3] / "packages" / "holdfast-memory-model"
    assert (folder / "pyproject.toml").is_file()


HEAVY = ("numpy", "onnxruntime", "fastembed", "sentence_transformers", "urllib.request", "hashlib")


def test_making_any_embedder_loads_nothing_heavy() -> None:
    code = f"""
import sys
from holdfast.embed.onnx import OnnxEmbedder
from holdfast.embed.providers import find_embedder
from holdfast.embed.local_models import StaticEmbedder
assert OnnxEmbedder("/no/such/folder").passage_tokens_max == 512
StaticEmbedder("/no/such/folder")
find_embedder("openai:m@http://localhost:1/v1")
find_embedder("fastembed:m")
find_embedder("sentence-transformers:m")
find_embedder("none")
print([name for name in {HEAVY!r} + ("dataclasses", "inspect", "logging") if name in sys.modules])
"""
    assert run_python(code) == "[]"


def test_finding_the_bundled_model_loads_no_numpy() -> None:
    code = f"""
import sys
from holdfast.embed.providers import find_embedder
find_embedder("auto")
print([name for name in {HEAVY[:4]!r} if name in sys.modules])
"""
    assert run_python(code) == "[]"


def run_python(code: str) -> str:
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
