"""Programs for people who work on Holdfast; no part of the package."""
