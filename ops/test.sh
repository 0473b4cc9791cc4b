#!/usr/bin/env bash
# Everything that must hold before a change lands.
#   ops/test.sh          release (all tests, header and link checks), asan, tsan, format, tidy
#   ops/test.sh --release  format and release only
#   ops/test.sh --fast   release, unit tests only
# A failed stage does not stop the later ones; the last line sums up all of them.
# FUSEFARM_BUILD_DIR moves the build trees; FUSEFARM_TIDY_BASE is the commit that tidy compares with.
set -euo pipefail
# shellcheck source=ops/lib/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/common.sh"

stages=(format release asan tsan tidy)
case ${1-} in
  '') ;;
  --fast) stages=(release_fast) ;;
  --release) stages=(format release) ;;
  *)
    echo "usage: ops/test.sh [--fast|--release]" >&2
    exit 2
    ;;
esac

passed=0
failed=0
failed_stages=()
timings=()
logs=$build_root/test-logs
mkdir -p "$logs"

# run_tests PRESET [CTEST_ARGS...]: no test found is an error.
run_tests() {
  ctest --test-dir "$build_root/$1" --output-on-failure --no-tests=error \
    --parallel "$(nproc)" "${@:2}"
}

stage_release() {
  configure release -DFUSEFARM_BENCH=ON
  build release all header_checks link_checks
  run_tests release
}

stage_release_fast() {
  configure release
  build release tests_unit
  run_tests release -L '^unit$'
}

# Leaks are looked for in the test programs only: ops/cmake/sanitizer_options.cc says why.
stage_asan() {
  export ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1:check_initialization_order=1
  export UBSAN_OPTIONS=print_stacktrace=1
  export LSAN_OPTIONS=suppressions=$root/ops/lsan.supp:print_suppressions=0
  use_symbolizer
  configure asan
  build asan tests_unit tests_fuzz tests_e2e_sanitized
  run_tests asan -L '^(unit|fuzz|e2e_sanitized)$' -LE '^no_asan$'
}

stage_tsan() {
  export TSAN_OPTIONS=suppressions=$root/ops/tsan.supp:ignore_noninstrumented_modules=1:second_deadlock_stack=1
  use_symbolizer
  configure tsan
  build tsan tests_threads
  run_tests tsan -L '^threads$' -LE '^no_tsan$'
}

use_symbolizer() {
  local symbolizer
  if symbolizer=$(command -v llvm-symbolizer-19); then
    export ASAN_SYMBOLIZER_PATH=$symbolizer TSAN_SYMBOLIZER_PATH=$symbolizer
    UBSAN_OPTIONS=${UBSAN_OPTIONS:-}:external_symbolizer_path=$symbolizer
    TSAN_OPTIONS=${TSAN_OPTIONS:-}:external_symbolizer_path=$symbolizer
    export UBSAN_OPTIONS TSAN_OPTIONS
  fi
}

stage_format() {
  "$root/ops/format.sh" --check
}

stage_tidy() {
  "$root/ops/tidy.sh"
}

# Adds the numbers of ctest's closing line ("... tests failed out of N") to the totals.
count_tests() {
  local closing
  closing=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$1" | tail -n 1 || true)
  if [[ $closing =~ ,\ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
    stage_failed=${BASH_REMATCH[1]}
    passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[1]))
  fi
}

run_stage() {
  local name=$1 start=$SECONDS rc=0 stage_failed=0
  echo "=== $name"
  set +e
  (
    set -e
    "stage_$name"
  ) 2>&1 | tee "$logs/$name.log"
  rc=${PIPESTATUS[0]}
  set -e
  count_tests "$logs/$name.log"
  if ((rc != 0)); then
    failed_stages+=("$name")
    ((stage_failed > 0)) || failed=$((failed + 1))
  fi
  timings+=("$(printf '%-14s %5d s  %s' "$name" $((SECONDS - start)) "$( ((rc == 0)) && echo ok || echo FAILED)")")
}

"$root/ops/deps.sh" test
for stage in "${stages[@]}"; do
  run_stage "$stage"
done

echo "=== summary"
printf '%s\n' "${timings[@]}"
((${#failed_stages[@]} == 0)) || echo "failed stages: ${failed_stages[*]}"
echo "$passed passed, $failed failed"
((${#failed_stages[@]} == 0))
