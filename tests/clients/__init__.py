"""Tests that run the agents' own programs against a model server on loopback."""
