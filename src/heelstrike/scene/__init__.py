"""A scene: surfaces with their laws, servo, controllers, and scene files."""
