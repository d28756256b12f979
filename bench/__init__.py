"""Benchmarks: recall quality, the store, the speed of recall. The package never imports this."""
