# SPDX-License-Identifier: Apache-2.0
"""The C compiler that programs are compiled with: the machine's own, or that of the package ziglang (extra `jit`)."""

import importlib.util
import os
import shutil
import sys


def choose() -> None:
    """Names ziglang's compiler in BRAINTRACE_CC where nothing else is installed and nobody has chosen."""
    if os.environ.get("BRAINTRACE_CC") or any(map(shutil.which, ("cc", "clang", "gcc", "zig"))):
        return
    if importlib.util.find_spec("ziglang") is not None:
        os.environ["BRAINTRACE_CC"] = f"{sys.executable} -m ziglang cc"


choose()
