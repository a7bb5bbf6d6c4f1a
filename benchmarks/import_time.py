"""Times `import MODULE` in a fresh process that has imported next to nothing: prints one JSON line.

python benchmarks/import_time.py MODULE
"""

import sys
import time


def resident_pages() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1])


def main() -> None:
    name = sys.argv[1]
    before = resident_pages()
    start = time.perf_counter()
    module = __import__(name)
    seconds = time.perf_counter() - start
    pages = resident_pages() - before

    import json
    import os

    if getattr(module, "__file__", None) is None:
        # A mere folder of that name imports as an empty namespace package.
        raise ImportError(f"the package {name} is not installed for this Python")
    memory = pages * os.sysconf("SC_PAGE_SIZE")
    print(json.dumps({"seconds": seconds, "memory": memory, "version": module.__version__}))


if __name__ == "__main__":
    main()
