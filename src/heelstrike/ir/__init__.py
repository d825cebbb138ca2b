"""What physics writes: programs of blocks, loops and tables, and their derivatives."""
