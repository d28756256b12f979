"""Every example of the README and the docs runs, and gives what the page says."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.embed.providers import find_embedder
from tests.clients.model_server import ModelServer
from tests.docs.documentation import (
    ROOT,
    SHELLS,
    Block,
    blocks_of,
    differences,
    matches,
    name_of,
    pages,
    run_command,
    run_python,
    run_shell,
)
from tests.edges.client.servers import served
from tests.edges.proxy.proxies import proxy
from tests.unit.llm.protocols import OPENAI
from tests.unit.llm.servers import reply, serving

# What a block for the shell may hold that is not run here: it sets up or builds, or is another
# program's.
NOT_RUN = ("make", "pip", "python", "git", "cd", "uv", "#", ".", "pipx", "source")


# Pages whose examples talk to a server, at the address where one runs that is not told otherwise.
# It serves the folder `server`, and wants a key.
SERVED = ("docs/how-to/use-a-server.md",)
ADDRESS = "http://127.0.0.1:4653"


# Pages whose examples talk to a language model, at the address where Ollama serves. Here it is one
# that calls a tool and is done.
ASKING = ("docs/how-to/use-a-language-model.md",)
MODEL_ADDRESS = "http://localhost:11434/v1"
MODEL_SAYS = (
    OPENAI.calls("remember", {"content": "Uses vim for everything", "quote": "I use vim"}),
    OPENAI.says("Done."),
)


# Pages whose examples talk to a model through `holdfast proxy`, which has the home of the page.
PROXIED = ("docs/how-to/put-a-proxy-before-a-model.md",)
PROXY_ADDRESS = "http://127.0.0.1:7769"


# Pages that look into the file of the embedded store, or damage it.
OF_THE_FILE = (
    "docs/explanation/what-is-kept-and-for-how-long.md",
    "docs/how-to/move-to-postgresql.md",
    "docs/how-to/recover-with-the-doctor.md",
)


class Places(NamedTuple):
    """What stands on a page for a server's address, and where that server is now. `settle` waits
    until it has done what it does behind its answers."""

    addresses: dict[str, str]
    settle: Callable[[], None] = lambda: None


@contextmanager
def addresses_for(page: Path, folder: Path) -> Iterator[Places]:
    if name_of(page) in SERVED:
        with served(folder / "server", key_needed=True, model="auto") as server:
            yield Places({ADDRESS: server.url})
    elif name_of(page) in ASKING:
        with serving(*(reply(said) for said in MODEL_SAYS)) as model:
            yield Places({MODEL_ADDRESS: model.url})
    elif name_of(page) in PROXIED:
        with (
            ModelServer("I will remember it.") as loopback,
            proxy(folder / "home", loopback.url) as running,
        ):
            yield Places({PROXY_ADDRESS: running.url}, running.work)
    else:
        yield Places({})


README = ROOT / "README.md"

# Pages about frameworks whose examples need none.
NO_FRAMEWORK = ("index.md", "mem0.md")


def examples(page: Path) -> list[Block]:
    if page.parent.name == "frameworks" and page.name not in NO_FRAMEWORK:
        # They need the framework: tests/frameworks runs them.
        return []
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    return [block for block in blocks if block.language == "python" or block.is_shell_example]


@pytest.fixture
def in_utc() -> Iterator[None]:
    """The time zone of the examples, for this process too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize("page", [page for page in pages() if examples(page)], ids=name_of)
def test_the_examples_of_a_page_run_and_give_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, homes: str, in_utc: None
) -> None:
    """A page is read from top to bottom: its examples share one home and one namespace."""
    if homes != "sqlite" and name_of(page) in OF_THE_FILE:
        pytest.skip("the page is about the file of the embedded store")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    wrong: list[str] = []
    with addresses_for(page, tmp_path) as places:
        for block in examples(page):
            places.settle()
            for shown, real in places.addresses.items():
                block = block._replace(text=block.text.replace(shown, real))
            if block.language == "python":
                wrong += run_python(block, page, names)
                continue
            if find_embedder("auto") is None:
                pytest.skip("the pages show answers with the bundled model, which is not installed")
            wrong += run_shell(block, tmp_path, dict(os.environ))
    assert not wrong, f"{name_of(page)}\n" + "\n".join(wrong)


def _python_examples(page: Path) -> list[Block]:
    return [block for block in examples(page) if block.language == "python"]


@pytest.mark.parametrize("block", _python_examples(README), ids=lambda block: f"line-{block.line}")
def test_a_python_example_of_the_readme_gives_the_same_when_it_is_run_again(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_utc: None
) -> None:
    """People copy one example into a file and run it twice, in the same folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run_python(block, README, {"__name__": "__main__"}) == []


def test_the_tutorial_gives_the_same_when_it_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_utc: None
) -> None:
    page = ROOT / "docs" / "tutorial" / "an-agents-memory.md"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    for _ in range(2):
        names: dict[str, Any] = {"__name__": "__main__"}
        wrong = [one for block in _python_examples(page) for one in run_python(block, page, names)]
        assert wrong == []


@pytest.mark.parametrize("page", [page for page in pages() if examples(page)], ids=name_of)
def test_an_example_does_not_fail_because_its_hub_is_there_from_before(page: Path) -> None:
    assert not any("create_hub(" in block.text for block in _python_examples(page))


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_holdfast_command_is_shown_only_where_it_is_run(page: Path) -> None:
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language in SHELLS and not block.is_shell_example:
            for line in block.text.splitlines():
                if line.strip():
                    assert line.split()[0].startswith(NOT_RUN), f"line {block.line}: {line}"


def test_an_example_that_is_wrong_is_noticed() -> None:
    page = Path("page.md")
    right = Block("python", 1, "print('a 1')  # -> a …\nprint('b')\n# -> b")
    assert run_python(right, page, {}) == []
    for text in ("print('a')  # -> b", "print('a')", "x = 1  # -> 1", "print('a\\nb')  # -> a"):
        assert run_python(Block("python", 1, text), page, {}), text


def test_dots_stand_for_anything_on_a_line_and_nothing_else_does() -> None:
    assert matches("mem_…  Prefers …", "mem_1k09  Prefers tabs")
    assert not matches("mem_1", "mem_12")
    assert not matches("a.c", "abc")
    assert differences(["a"], ["a", "b"], 1)
    assert differences(["a", "b"], ["a"], 1)


def test_a_shell_example_that_is_wrong_is_noticed(tmp_path: Path) -> None:
    environment = dict(os.environ) | {"HOLDFAST_HOME": str(tmp_path)}
    told = "$ holdfast --version\nholdfast …\nmodel    …\nstore    …\n$ echo a | cat\na"
    right = Block("console", 1, told)
    assert run_shell(right, tmp_path, environment) == []
    for text in ("$ holdfast --version\nholdfast 9", "$ holdfast --version", "$ holdfast nonsense"):
        assert run_shell(Block("console", 1, text), tmp_path, environment), text
        # The same through a shell, which starts a process.
        assert run_shell(Block("console", 1, f"$ true && {text[2:]}"), tmp_path, environment), text


@pytest.mark.parametrize("before", ["", "true && "])
def test_a_command_finds_the_folder_and_the_settings_it_is_given(
    before: str, tmp_path: Path
) -> None:
    environment = dict(os.environ) | {"HOLDFAST_HOME": str(tmp_path / "home"), "TZ": "UTC"}
    (tmp_path / "note.txt").write_text("Ada's desk is green")
    commands = ["remember --file note.txt --json", 'get 1 --content --home "home"']
    said = [run_command(f"{before}holdfast {words}", tmp_path, environment) for words in commands]
    assert said[1] == ["Ada's desk is green"]
