"""The stores: one contract (`base`), and a folder for each implementation."""
