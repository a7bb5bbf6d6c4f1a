"""Tests of ops by table: see README.md."""
