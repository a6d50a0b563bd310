"""`make demo`: seed the sources, build every layer through Dagster, say what there is now."""

import sys

from demo.cli import demo

if __name__ == "__main__":
    demo(args=sys.argv[1:] or ["run"], prog_name="python -m demo")
