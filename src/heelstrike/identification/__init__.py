"""Identification of parameters from measurements: hs.identify."""
