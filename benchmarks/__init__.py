"""Workloads timed on Graven and its peers, side by side."""
