"""Passages of source code and data: one per definition, whole lines, with what they stand in."""

from __future__ import annotations

import pytest

from holdfast.text.chunking import chunk, count_tokens


def passages(text: str, language: str = "", tokens_max: int = 128) -> list[str]:
    found = chunk(text, content_type="code", language=language, tokens_max=tokens_max)
    return [text[c.start : c.end] for c in found]


def python_function(name: str) -> str:
    body = '    """Say where the boat is."""\n\n    pier = boat.find(name)\n    return pier.name'
    return f"def {name}(boat):\n{body}"


PYTHON = "\n\n\n".join(
    [
        '"""Boats of the harbour, and where they are."""\n\nimport os\nimport sys\n\nPIERS = 3',
        python_function("first"),
        "# Only in summer.\n@cached\n@checked(\n    deep=True,\n)\n" + python_function("second"),
        "class Harbour:\n    depth = 3\n\n    " + python_function("third").replace("\n", "\n    "),
        'if __name__ == "__main__":\n    sys.exit(first(os.environ) or second(os.environ) or 1)',
    ]
)


def test_python_is_cut_at_functions_and_classes() -> None:
    assert [p.split("\n")[0] for p in passages(PYTHON, "python")] == [
        '"""Boats of the harbour, and where they are."""',
        "def first(boat):",
        "# Only in summer.",
        "class Harbour:",
        'if __name__ == "__main__":',
    ]


def test_python_is_known_without_being_named() -> None:
    assert passages(PYTHON) == passages(PYTHON, "python")


def test_a_definition_in_a_string_is_no_definition() -> None:
    text = (
        PYTHON + '\n\n\nTEXT = """\n\ndef no():\n    the boat is here\n\nclass No:\n    pass\n"""\n'
    )
    assert passages(text, "python")[-1].endswith('"""')
    assert len(passages(text, "python")) == len(passages(PYTHON, "python"))


@pytest.mark.parametrize(
    "broken", ["def f(:\n" * 40, "x = 1\x00\n" * 60, "(" * 300, "\ufeffx = 1\n" * 60]
)
def test_python_that_does_not_parse_is_cut_by_its_layout(broken: str) -> None:
    assert "".join("".join(passages(broken, "python")).split()) == "".join(broken.split())


def test_a_class_too_long_is_cut_at_its_methods_and_they_name_it() -> None:
    methods = [python_function(f"m{n}").replace("\n", "\n    ") for n in range(12)]
    text = "class Harbour(Base):\n    " + "\n\n    ".join(methods)
    found = chunk(text, content_type="code", language="python", tokens_max=128)
    assert [c.headings for c in found] == [()] + [("class Harbour(Base):",)] * 11
    assert all(text[c.start :].startswith(f"    def m{n}") for n, c in enumerate(found) if n)


def test_a_function_too_long_is_cut_at_lines() -> None:
    lines = ["def long():", *[f"    value_{n} = compute({n})" for n in range(200)]]
    found = passages("\n".join(lines), "python")
    assert [line for p in found for line in p.split("\n")] == lines
    assert max(map(count_tokens, found)) <= 128


JAVASCRIPT = """import { boats } from './boats.js'
import { piers, tides, storms } from './harbour.js'

// Where the boat is, or nothing.
export function find(name) {
  const boat = boats.get(name)

  if (!boat) {
    return null
  }
  return piers.get(boat.pier)
}

export class Harbour {
  open() {
    return tides.now() > 3 && storms.next() > 24
  }

  close() {
    return this.piers.forEach((pier) => pier.close())
  }
}
"""

GO = """package main

import "fmt"

// Find says where a boat is; it returns an empty string when nobody knows.
func Find(name string) string {
	boat := boats[name]

	return boat.Pier
}

func main() {
	fmt.Println(Find("Ana"), Find("Bob"), Find("Cy"))
	fmt.Println("the boats are all at the pier")
}
"""


@pytest.mark.parametrize(
    ("text", "language", "starts"),
    [
        (JAVASCRIPT, "javascript", ["import", "// Where", "export class"]),
        (GO, "go", ["package", "func main"]),
    ],
)
def test_other_languages_are_cut_where_a_line_stands_out(
    text: str, language: str, starts: list[str]
) -> None:
    found = passages(text, language)
    assert len(found) == len(starts)
    assert all(p.startswith(start) for p, start in zip(found, starts, strict=True))


def test_a_short_file_is_one_passage() -> None:
    assert passages(
        "import a\n\n\ndef f():\n    return a\n\n\ndef g():\n    return f\n", "python"
    ) == ["import a\n\n\ndef f():\n    return a\n\n\ndef g():\n    return f"]


def test_data_is_packed_in_whole_entries() -> None:
    entries = [f"boat_{n}:\n  pier: old\n  crew:\n    - Ana\n    - Bob" for n in range(60)]
    text = "\n\n".join(entries)
    found = [text[c.start : c.end] for c in chunk(text, content_type="structured", tokens_max=128)]
    assert all(p.startswith("boat_") for p in found)
    assert [entry for p in found for entry in p.split("\n\n")] == entries
    assert len(found) < 30


def test_one_long_line_of_data_is_cut_all_the_same() -> None:
    text = "[" + ", ".join(f'{{"boat": {n}}}' for n in range(500)) + "]"
    found = [text[c.start : c.end] for c in chunk(text, content_type="structured", tokens_max=128)]
    assert max(map(count_tokens, found)) <= 128
