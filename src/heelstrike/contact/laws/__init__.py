"""Contact laws, one a file."""
