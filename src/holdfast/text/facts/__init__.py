"""Statements about people and things: taken apart, compared, and whom they are about."""
