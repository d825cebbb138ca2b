"""Scenes: robots, surfaces with their laws, servo, stops, controllers, and scene files."""
