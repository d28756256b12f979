"""Adapters to the interfaces of other frameworks. Each module needs its framework, so none is
imported here."""
