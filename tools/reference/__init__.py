"""Generators of the reference pages that are derived from code: `make reference`."""
