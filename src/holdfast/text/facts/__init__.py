"""Statements about people and things: their parts, their similarity, and their subject."""
