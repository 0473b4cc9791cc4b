# shellcheck shell=bash
# Sourced by the scripts of ops/: where things are, timed stages, how many jobs fit.
# FUSEFARM_BUILD_DIR moves the build trees: $FUSEFARM_BUILD_DIR/release instead of build/release.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
build_root=${FUSEFARM_BUILD_DIR:-$root/build}
[[ $build_root == /* ]] || build_root=$PWD/$build_root
readonly root build_root

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# One job a core, but no more than fit the free memory at 1.2 GiB a compiler.
jobs_that_fit() {
  local cores free_kib by_memory
  cores=$(nproc)
  free_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || echo 0)
  by_memory=$((${free_kib:-0} / 1258291))
  ((by_memory >= 1)) || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}

# configure PRESET [-DNAME=VALUE...]: prints only what went wrong.
configure() {
  local preset=$1 log
  shift
  mkdir -p "$build_root/$preset"
  log=$build_root/$preset/configure.log
  if ! (cd "$root" && cmake --preset "$preset" -B "$build_root/$preset" "$@") >"$log" 2>&1; then
    cat "$log" >&2
    die "cannot configure $preset"
  fi
}

# build PRESET TARGET...
build() {
  local preset=$1
  shift
  cmake --build "$build_root/$preset" --parallel "$(jobs_that_fit)" --target "$@"
}
