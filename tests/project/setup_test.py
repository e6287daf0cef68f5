# SPDX-License-Identifier: Apache-2.0
"""tools/setup.sh: a build folder that another compiler made is configured afresh, so that it keeps what the preset says."""
import pathlib
import shutil
import subprocess
import tempfile

SETUP = pathlib.Path(__file__).parents[2] / "tools/setup.sh"


def is_fresh(preset, folder, cached):
    with tempfile.TemporaryDirectory() as root:
        if cached:
            (pathlib.Path(root) / folder).mkdir(parents=True)
            (pathlib.Path(root) / folder / "CMakeCache.txt").write_text(f"CMAKE_CXX_COMPILER:FILEPATH={cached}\n")
        script = f'set -eu; cd "{root}"; . "{SETUP}"; cmake() {{ echo "$@"; }}; build {preset} g++ "" -DA=B'
        lines  = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
        (line,) = [line for line in lines if line.startswith("--preset")]
        assert "-DCMAKE_CXX_COMPILER=g++ -DA=B" in line, line
        return "--fresh" in line


assert not is_fresh("release", "build", None)
assert not is_fresh("release", "build", shutil.which("g++"))
assert is_fresh("release", "build", "/usr/bin/c++")
assert is_fresh("tsan", "build/tsan", "/usr/bin/clang++")
assert not is_fresh("tsan", "build", "/usr/bin/clang++")
print("build folders of other compilers are configured afresh")
