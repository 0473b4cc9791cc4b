#!/usr/bin/env bash
# Installs what fusefarm needs from Debian 12; does nothing when all of it is there.
#   ops/deps.sh build   to build and run the programs
#   ops/deps.sh test    the same, and what the tests and checks need
set -euo pipefail

build_packages=(
  g++ cmake ninja-build pkg-config
  libfmt-dev libspdlog-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev
  libsqlite3-dev libb2-dev libxxhash-dev libopenblas-pthread-dev libdnnl-dev libseccomp-dev
  bubblewrap
)
test_packages=(
  libgtest-dev libbenchmark-dev
  clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev llvm-19
  ccache mold git
)

case ${1-} in
  build) wanted=("${build_packages[@]}") ;;
  test) wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
  *)
    echo "usage: ops/deps.sh build|test" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "error: this is no Debian; install what these packages hold by hand: ${wanted[*]}" >&2
  exit 1
fi

installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "$package installed" <<<"$installed" || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "error: neither root nor sudo; ask an administrator to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

# run_apt ARGS...: quiet unless it fails.
run_apt() {
  local log
  log=$(mktemp)
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

echo "installing ${missing[*]}"
if ! run_apt update; then
  echo "warning: cannot refresh the package lists; trying with the old ones" >&2
fi
if ! run_apt install --no-install-recommends "${missing[@]}"; then
  echo "error: cannot install ${missing[*]}: is there a network, and is this Debian 12?" >&2
  exit 1
fi
