# SPDX-License-Identifier: Apache-2.0
"""Every attribute key, a name with a type, is declared once in the library."""
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
DECLARATION = re.compile(r"constexpr Key<(.+?)>\s+([^;]*);")

places = collections.defaultdict(list)
for path in sorted((ROOT / "braintrace").rglob("*.[ch]*")):
    if path.name.endswith("_test.cpp"):
        continue
    text = re.sub(r"//.*", "", path.read_text())
    for kind, names in DECLARATION.findall(text):
        for name in re.findall(r'\{"(\w+)"\}', names):
            places[name, kind].append(str(path.relative_to(ROOT)))
assert ("axis", "int64_t") in places and ("branches", "ProgramPtrs") in places, "the pattern finds no declarations"
twice = {key: paths for key, paths in places.items() if len(paths) > 1}
assert not twice, f"declared more than once: {twice}"
print(len(places), "keys")
