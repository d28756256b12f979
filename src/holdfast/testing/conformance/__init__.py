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

from holdfast.testing.conformance.batches import Batches, Together
from holdfast.testing.conformance.history import HistoryKept, Purging
from holdfast.testing.conformance.isolation import Isolation, Viewers
from holdfast.testing.conformance.lists import Lists
from holdfast.testing.conformance.records import Log, Records
from holdfast.testing.conformance.round_trip import Derived, Edges, RoundTrip
from holdfast.testing.conformance.search import Search, Vectors


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
