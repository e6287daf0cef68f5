#!/usr/bin/env bash
# Tries the packages of a release on a bare Debian 12, as root: tools/try_package.sh FOLDER
# First the .tar.gz with nothing installed, then the .deb, then a user program against its library.
set -euo pipefail
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '\n== %s\n' "$*"; }
apt() { env DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@" >/dev/null; }

cat >"$work/copy.json" <<'CONFIG'
{"model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 10, "n_rec": 16},
                                       {"name": "out", "type": "linear", "n_in": 16, "n_out": 10}]},
 "task": {"type": "copy", "lag": 2}, "rule": "D_RTRL", "optimizer": {"type": "adam", "lr": 0.01}, "batch": 4, "steps": 20,
 "validation": {"every": 10, "batches": 1}}
CONFIG

say "the .tar.gz, with nothing installed"
mkdir "$work/unpacked" && tar -xzf "$folder"/braintrace-*.tar.gz -C "$work/unpacked" --strip-components=1
"$work/unpacked/bin/braintrace" info
"$work/unpacked/bin/braintrace" graph gru >/dev/null
BRAINTRACE_BACKEND=reference "$work/unpacked/bin/braintrace" train "$work/copy.json" --set output="$work/first" --quiet

say "the .deb"
apt update
apt install --no-install-recommends "$folder"/braintrace_*.deb
braintrace --version
man=$(dpkg -L braintrace | grep -c '/man1/')
echo "$man manual pages"
apt install --no-install-recommends gcc libc6-dev
braintrace train "$work/copy.json" --set output="$work/second"

say "a user program"
apt install --no-install-recommends cmake g++ make libfmt-dev nlohmann-json3-dev zlib1g-dev
mkdir "$work/own" && cd "$work/own"
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(own CXX)
find_package(braintrace CONFIG REQUIRED)
add_executable(own own.cpp)
target_link_libraries(own PRIVATE braintrace::braintrace)
CMAKE
cat >own.cpp <<'PROGRAM'
#include <fmt/core.h>
#include "braintrace/braintrace.h"
int main() { fmt::print("{}\n", bt::sum(bt::ones({3})).item()); }
PROGRAM
cmake -B build . >/dev/null && cmake --build build >/dev/null && build/own

apt remove braintrace
if hash -r && command -v braintrace; then echo "the package left its command" >&2; exit 1; fi
say "The packages work."
