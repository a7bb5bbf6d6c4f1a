"""The error of code that cannot be converted."""


class ConversionError(Exception):
    """A function cannot be converted; the text gives the cause."""
