"""Writes: from a draft to a stored memory, edits, redaction, deduplication and supersession."""
