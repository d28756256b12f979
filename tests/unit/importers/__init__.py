"""Importers of what other programs have stored."""
