"""Adapters against the real frameworks.

Frameworks conflict with each other and with the packages of the development environment. So each
version of each has a folder of its own, `.venv/frameworks/NAME-high` and `NAME-low`, installed by
`make test-frameworks` from the pins in `requirements`, and its tests run in a process of their own
with that folder on the path. `test_frameworks.py` starts those processes.
"""
