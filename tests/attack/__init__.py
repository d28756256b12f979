"""Hostile clients against a real server on loopback: `make test-attack`."""
