"""`make demo`: seed the sources, build every layer through Dagster, say what there is now."""

import sys

from demo.run import run

if __name__ == "__main__":
    sys.exit(run())
