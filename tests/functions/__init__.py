"""Public functions of the library, tested by table."""
