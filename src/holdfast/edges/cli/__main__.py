"""`python -m holdfast.edges.cli`, used to measure what a command imports."""

from __future__ import annotations

from holdfast.edges.cli import run

run()
