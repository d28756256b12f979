"""Exports in the formats of other programs."""
