# Shared by ./run and ./test (sourced, bash): finds or installs Debian packages, configures and builds.

say() { printf '\n== %s\n' "$*"; }

# need_packages NAME… : installs those that are missing; needs root or sudo only then.
need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is not a Debian system: expecting the equivalents of these packages to be installed: $*"
    return
  fi
  local missing=() p
  for p in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "All needed Debian packages are installed."
    return
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      printf '%s\n' "Packages are missing, and installing them needs root. As root, run" \
        "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" "and start again." >&2
      exit 2
    fi
    as_root=(sudo)
  fi
  say "Installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build PRESET COMPILER TARGET [cmake option…] : configures one preset of CMakePresets.json and builds a target of it; '':
# those it names.
build() {
  local preset=$1 compiler=$2 target=$3 start=$SECONDS folder=build/$1 cached fresh=()
  shift 3
  [ "$preset" = release ] && folder=build
  # When the compiler changes, CMake deletes what the folder knows, and with it the settings of the preset.
  cached=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$folder/CMakeCache.txt" 2>/dev/null) || true
  [ "${cached:-$compiler}" = "$compiler" ] || [ "$cached" = "$(command -v "$compiler")" ] || fresh=(--fresh)
  say "Building '$preset'"
  cmake --preset "$preset" "${fresh[@]}" -DCMAKE_CXX_COMPILER="$compiler" "$@" --log-level=WARNING
  cmake --build --preset "$preset" --parallel "$(nproc)" ${target:+--target "$target"}
  printf '   built in %d s\n' $((SECONDS - start))
}

build_packages=(g++ cmake ninja-build libfmt-dev zlib1g-dev librandom123-dev libcli11-dev nlohmann-json3-dev)
deb_packages=(dpkg-dev file)  # to make a .deb
test_packages=(clang-14 lld-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev libhdf5-dev python3 python3-venv pkg-config chromium locales openmpi-bin "${deb_packages[@]}")
