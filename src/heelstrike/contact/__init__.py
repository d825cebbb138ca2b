"""Contact laws: forces from how deep, how fast and in which direction a point touches."""
