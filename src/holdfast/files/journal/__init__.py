"""Journals: one Markdown file of entries per UTC day, kept in sync with the store."""
