"""The documentation as a site: `make docs`. The pages are those of the repository, as they are."""
