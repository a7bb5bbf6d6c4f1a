"""Rows of the table of ops, by family."""
