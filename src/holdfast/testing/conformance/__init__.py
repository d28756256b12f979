"""The promises of a store, as one class of tests.

A store's author writes:

    from holdfast.testing import StoreConformance

    class TestMyStore(StoreConformance):
        def open_store(self, tmp_path):
            return MyStore(tmp_path / "store")

Needs pytest and hypothesis. Promises that hang on a capability are skipped where the store does
not claim it.
"""

from __future__ import annotations

from holdfast.testing.conformance.batches import Batches
from holdfast.testing.conformance.derived import Derived
from holdfast.testing.conformance.edges import Edges
from holdfast.testing.conformance.history import HistoryKept
from holdfast.testing.conformance.isolation import Isolation
from holdfast.testing.conformance.lists import Lists
from holdfast.testing.conformance.log import Log
from holdfast.testing.conformance.purging import Purging
from holdfast.testing.conformance.records import Records
from holdfast.testing.conformance.round_trip import RoundTrip
from holdfast.testing.conformance.search import Search
from holdfast.testing.conformance.together import Together
from holdfast.testing.conformance.vectors import Vectors
from holdfast.testing.conformance.viewers import Viewers


class StoreConformance(
    RoundTrip,
    Isolation,
    Batches,
    HistoryKept,
    Purging,
    Lists,
    Search,
    Vectors,
    Derived,
    Edges,
    Log,
    Records,
    Viewers,
    Together,
):
    """Every promise of `holdfast.store.base`; a subclass says how to open the store."""


__all__ = ["StoreConformance"]
