"""Literal rules of the papers, solved in the twists of the contacting bodies."""
