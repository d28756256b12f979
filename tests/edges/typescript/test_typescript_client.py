"""The TypeScript client is made from the description of the REST API, and its own tests, run by
node, pass against a real server: alone, and with the Vercel AI SDK (`make ai`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.reference import typescript

from tests.docs.documentation import blocks_of
from tests.edges.client.servers import served

NODE = shutil.which("node")
# The lowest and the highest version of the SDK that the package declares; see the Makefile.
VERSIONS = ("ai-low", "ai-high")
_PACKAGES = Path(sys.prefix) / "ai" / "node_modules"

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
needs_ai = pytest.mark.skipif(
    NODE is None or not (_PACKAGES / VERSIONS[-1]).is_dir(),
    reason="the Vercel AI SDK is not installed: make ai",
)


def a_project(folder: Path, ai: str = "") -> Path:
    """A folder in which the package is installed, with its tests."""
    modules = folder / "node_modules"
    modules.mkdir()
    shutil.copytree(typescript.FOLDER, modules / "holdfast-client")
    for test in (typescript.FOLDER / "test").iterdir():
        shutil.copy(test, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    if ai:
        (modules / "ai").symlink_to(_PACKAGES / ai)
    return folder


def run_tests(folder: Path, name: str) -> None:
    assert NODE is not None
    with served(folder / "home") as server:
        ran = subprocess.run(
            [NODE, "--test", "--test-reporter", "tap", name],
            cwd=folder,
            env={**os.environ, "HOLDFAST_URL": server.url},
            capture_output=True,
            text=True,
            timeout=100,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "# fail 0" in ran.stdout and "# pass 0" not in ran.stdout


@pytest.mark.parametrize("name", ["operations.js", "index.d.ts"])
def test_the_client_is_that_of_the_description(name: str) -> None:
    made = {"operations.js": typescript.operations_js, "index.d.ts": typescript.index_dts}[name]()
    kept = (typescript.FOLDER / name).read_text(encoding="utf-8")
    assert kept == made, "the REST API has changed: make reference"


def test_every_route_of_the_api_is_an_operation() -> None:
    described = typescript._description()["paths"]
    routes = {
        (method.upper(), path)
        for path, methods in described.items()
        if path.startswith("/v1/")
        for method in methods
    }
    assert {(one.method, one.path) for one in typescript.operations()} == routes


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer"}, "number"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
        (
            {"type": "object", "properties": {"a-b": {"type": "boolean"}}, "required": ["a-b"]},
            '{ "a-b": boolean }',
        ),
        (
            {"$ref": "#/components/schemas/holdfast__edges__http__recall__Question"},
            "RecallQuestion",
        ),
        ({}, "unknown"),
    ],
)
def test_schemas_become_types(schema: dict[str, object], kind: str) -> None:
    assert typescript.type_of(schema) == kind


@needs_node
def test_the_client_against_a_server(tmp_path: Path) -> None:
    run_tests(a_project(tmp_path), "client.test.js")


@needs_ai
@pytest.mark.parametrize("version", VERSIONS)
def test_the_memory_functions_for_the_ai_sdk(version: str, tmp_path: Path) -> None:
    run_tests(a_project(tmp_path, version), "ai.test.js")


@needs_ai
@pytest.mark.parametrize("version", VERSIONS)
def test_the_types_compile(version: str, tmp_path: Path) -> None:
    folder = a_project(tmp_path, version)
    options = {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "types": [],
        "module": "nodenext",
        "target": "es2022",
        "lib": ["es2023", "dom", "dom.iterable"],
    }
    config = {"compilerOptions": options, "files": ["types.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(config))
    assert NODE is not None
    compiler = _PACKAGES / "typescript" / "bin" / "tsc"
    ran = subprocess.run(
        [NODE, compiler, "-p", folder], capture_output=True, text=True, timeout=100
    )
    assert ran.returncode == 0, ran.stdout


# The page and the package's README


def examples(path: Path) -> list[str]:
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    return [block.text for block in blocks if block.language == "js"]


def run_example(folder: Path, text: str) -> str:
    assert NODE is not None
    with served(folder / "home") as server:
        server.memory.hub("work", create=True)
        (folder / "example.js").write_text(text.replace("http://127.0.0.1:4653", server.url))
        ran = subprocess.run(
            [NODE, "example.js"], cwd=folder, capture_output=True, text=True, timeout=100
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@needs_node
@pytest.mark.parametrize(
    "page", ["docs/how-to/use-from-typescript.md", "packages/holdfast-client/README.md"]
)
def test_the_first_example_of_a_page_runs(page: str, tmp_path: Path) -> None:
    text = examples(typescript.FOLDER.parents[1] / page)[0]
    assert "The staging server is called heron\n" in run_example(a_project(tmp_path), text)


@needs_ai
def test_the_example_with_the_ai_sdk_runs(tmp_path: Path) -> None:
    text = examples(typescript.FOLDER.parents[1] / "docs/how-to/use-from-typescript.md")[1]
    model = """
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const doGenerate = async () => ({
  content: [{ type: "text", text: "Hello!" }], finishReason: "stop", usage, warnings: [],
});
const about = { specificationVersion: "v2", provider: "p", modelId: "m", supportedUrls: {} };
const model = { ...about, doGenerate };
console.log(await answer(model, "Hi there"));
"""
    said = run_example(a_project(tmp_path, VERSIONS[0]), text + model)
    assert said == "Hello!\n"
