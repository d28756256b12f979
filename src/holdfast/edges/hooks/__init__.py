"""Hooks of agents, which inject memory into prompts and log conversations.

A client starts `front`, which passes the event to the warm process (`server`), which answers it
(`respond`); if none is running, it answers the event itself. A hook never fails its client: errors
are written to the hooks' log, which `holdfast doctor` shows.
"""
