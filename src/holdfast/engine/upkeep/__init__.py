"""Maintenance: lifecycle, compaction, the doctor, the search for stored secrets, statistics."""
