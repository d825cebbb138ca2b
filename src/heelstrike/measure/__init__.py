"""Yardsticks for contacts in recordings, the same for every law."""
