"""Entry of ./dev, which runs this folder."""

import sys

from devtool.cli import main

sys.exit(main(sys.argv[1:]))
