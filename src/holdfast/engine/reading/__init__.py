"""Reads: recall, lists, lookup by id, number or key."""
