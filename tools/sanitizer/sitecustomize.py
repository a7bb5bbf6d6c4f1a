"""Looks for leaks before a Python under the address sanitizer ends.

./dev sanitize puts this folder on PYTHONPATH, and Python imports this module when it starts. What
is registered first is called last, when the program is over and Python still has all that it
keeps for itself. When Python has ended it has lost sight of some of that, which is no leak of ours.
"""

import atexit


def look_for_leaks() -> None:
    """Ends the process with an error if there is memory that nothing points to."""
    import ctypes
    import gc

    gc.collect()
    check = getattr(ctypes.CDLL(None), "__lsan_do_leak_check", None)
    if check is not None:
        check()


atexit.register(look_for_leaks)
