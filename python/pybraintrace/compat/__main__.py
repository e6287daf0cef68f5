# SPDX-License-Identifier: Apache-2.0
"""Run a script for the JAX package unchanged: python -m pybraintrace.compat SCRIPT [ARGUMENT…]."""

import pathlib
import runpy
import sys

from . import install

if len(sys.argv) < 2:
    sys.exit(__doc__)
script = pathlib.Path(sys.argv[1])
if not script.is_file():
    sys.exit(f"pybraintrace.compat: {script}: there is no such script")
install()
sys.argv = sys.argv[1:]
sys.path[0] = str(script.resolve().parent)  # for what lies beside the script, as without -m
runpy.run_path(sys.argv[0], run_name="__main__")
