"""Slots: how a new statement relates to an older one about the same thing (`compare`)."""

# A longer text makes several statements, so it is not compared with others.
STATEMENT_CHARS_MAX = 240
