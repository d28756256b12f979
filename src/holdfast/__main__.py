"""`python -m holdfast` is the command line."""

from __future__ import annotations

from holdfast.edges.cli import run

run()
