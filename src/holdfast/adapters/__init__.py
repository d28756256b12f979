"""Holdfast in the clothes of other frameworks. Each module needs its framework, so it is imported
only by who uses it."""
