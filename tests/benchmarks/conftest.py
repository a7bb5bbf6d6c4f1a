"""Makes the package `benchmarks` importable: it is a program of the checkout, not installed."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
