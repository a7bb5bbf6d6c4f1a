"""`python -m benchmarks`, which ./dev bench calls."""

import signal
import sys

from benchmarks.root import ROOT


def main() -> int:
    # An ordinary end, so that the processes that measure, which stand still, are ended too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    # The environments of the peers are made by the code behind ./dev.
    sys.path.append(str(ROOT / "tools"))
    from benchmarks.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
