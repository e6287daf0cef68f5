# SPDX-License-Identifier: Apache-2.0
"""Command line: python -m pybraintrace info."""

import sys

from ._core import command


def main() -> None:
    """Run the command line with the arguments of this process."""
    if sys.stdout is not None:  # the process was started with a closed stdout
        sys.stdout.flush()
    sys.exit(command(["pybraintrace", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
