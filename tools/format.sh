#!/usr/bin/env bash
# clang-format over all C++ files. Names those that need it, exit status 1; with --fix, rewrites them.
#
#   tools/format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14 || command -v clang-format) ||
  { echo "format: there is no clang-format; install the Debian package clang-format-14." >&2; exit 2; }
files() { find braintrace cli tests examples benchmarks docs python/src -name '*.cpp' -print0 -o -name '*.h' -print0; }
if [ "${1:-}" = --fix ]; then
  files | xargs -0 -P2 -n40 "$format" -i
elif ! unformatted=$(files | xargs -0 -P2 -n40 "$format" --dry-run -Werror 2>&1); then
  echo "These files are not formatted; tools/format.sh --fix does it:"
  grep -oE '^[^: ]+\.(cpp|h):' <<<"$unformatted" | sort -u
  exit 1
fi
