"""Programs as physics writes them: programs of blocks, loops and tables, and their derivatives."""
