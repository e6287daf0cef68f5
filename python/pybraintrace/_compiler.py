# SPDX-License-Identifier: Apache-2.0
"""The C compiler that programs are compiled with: the machine's own, or that of the package ziglang (extra `jit`)."""

import importlib.util
import os
import sys


def _is_on_path(name: str) -> bool:  # shutil.which takes longer to import than the rest of this package takes to look
    return any(os.access(os.path.join(folder, name), os.X_OK) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)


def choose() -> None:
    """Names ziglang's compiler in BRAINTRACE_CC where nothing else is installed and nobody has chosen."""
    if os.environ.get("BRAINTRACE_CC") or any(map(_is_on_path, ("cc", "clang", "gcc", "zig"))):
        return
    if importlib.util.find_spec("ziglang") is not None:
        os.environ["BRAINTRACE_CC"] = f"{sys.executable} -m ziglang cc"


choose()
