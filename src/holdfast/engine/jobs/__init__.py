"""The job queue, its workers, and work that runs once per hub at a time."""
