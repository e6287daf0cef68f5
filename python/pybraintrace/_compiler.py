# SPDX-License-Identifier: Apache-2.0
"""Choice of the C compiler for programs: that of the machine, or that of the package ziglang (extra `jit`)."""

import importlib.util
import os
import sys


def _is_on_path(name: str) -> bool:  # importing shutil for `which` would take longer than this search
    return any(os.access(os.path.join(folder, name), os.X_OK) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)


def choose() -> None:
    """Set BRAINTRACE_CC to the compiler of ziglang if no other compiler is installed or chosen."""
    if os.environ.get("BRAINTRACE_CC") or any(map(_is_on_path, ("cc", "clang", "gcc", "zig"))):
        return
    if importlib.util.find_spec("ziglang") is not None:
        os.environ["BRAINTRACE_CC"] = f"{sys.executable} -m ziglang cc"


choose()
