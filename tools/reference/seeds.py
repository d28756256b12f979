"""Generates docs/reference/seeds.md from the marks of the tests in tests/seeds.

`make reference` writes it; a test compares the two.
"""

from __future__ import annotations

from types import ModuleType

from tests.seeds import test_maven, test_max, test_memax, test_minion, test_pynchy
from tests.seeds.documented import Behaviour, Seed, behaviours_in

MODULES: tuple[ModuleType, ...] = (test_max, test_maven, test_memax, test_minion, test_pynchy)

_OPENING = """# The five seeds, line by line

Holdfast takes the place of five memory systems. For each line of the document that describes one, \
this page says what the line promises, how to call it here, and what differs on purpose. Each row \
is a test in `tests/seeds`; `make test-seeds` runs them all. The numbers are lines of the document.

| seed | system | behaviours | dialect |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    out = [_OPENING]
    for module in MODULES:
        seed: Seed = module.SEED
        dialect = f"[`{seed.dialect}`](tools.md#{seed.dialect})" if seed.dialect else "–"
        anchor = f"[{seed.system}](#{seed.system.lower()})"
        out.append(f"| {seed.number} | {anchor} | {len(behaviours_in(module))} | {dialect} |\n")
    out += [_section(module) for module in MODULES]
    return "".join(out)


def _section(module: ModuleType) -> str:
    seed: Seed = module.SEED
    name = module.__name__.rpartition(".")[2]
    rows = "".join(_row(one) for one in behaviours_in(module))
    rest = "; ".join(f"{what}: {_lines(tuple(lines))}" for what, lines in seed.no_behaviour.items())
    return (
        f"\n## {seed.system}\n\nSeed {seed.number}, `tests/seeds/{name}.py`.\n\n"
        "| line | documented | here | differs on purpose |\n| --- | --- | --- | --- |\n"
        f"{rows}\nLines that state no behaviour: {rest}.\n"
    )


def _row(one: Behaviour) -> str:
    cells = (_lines(one.lines), one.says, one.call, one.differs or "no")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _lines(numbers: tuple[int, ...]) -> str:
    """Line numbers, with runs as ranges: 3, 5–7."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
