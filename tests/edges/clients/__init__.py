"""Setting up the programs that start Holdfast."""
