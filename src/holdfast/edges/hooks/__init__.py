"""Hooks of agents: what is remembered goes into their prompts, and what is said is logged.

`front` is what a client starts: it hands the event to the warm process (`server`), which answers it
(`respond`); where none runs, it answers the event itself. A hook never fails its client: an error
is a line in the log of hooks, and `holdfast doctor` shows it.
"""
