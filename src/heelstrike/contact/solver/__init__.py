"""The coupled contact problem: rows, Newton rounds, passes and criteria."""
