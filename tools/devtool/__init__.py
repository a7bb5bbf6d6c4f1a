"""What ./dev does, verb by verb. Needs nothing but Python's standard library."""
