#!/usr/bin/env bash
# Formats the C++ sources in place; with --check only says which are not formatted.
#   ops/format.sh [--check] [FILE...]     default: all files that git tracks
set -euo pipefail
# shellcheck source=ops/lib/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/common.sh"

options=(-i)
if [[ ${1-} == --check ]]; then
  options=(--dry-run -Werror)
  shift
fi
command -v clang-format-19 >/dev/null || die "no clang-format-19: run ops/deps.sh test"

if (($# > 0)); then
  clang-format-19 "${options[@]}" "$@"
  exit
fi
cd "$root"
mapfile -d '' -t files < <(git ls-files -z --deduplicate -- '*.h' '*.cc' |
  while IFS= read -r -d '' file; do [[ ! -f $file ]] || printf '%s\0' "$file"; done)
((${#files[@]})) || die "git tracks no C++ source here"
printf '%s\0' "${files[@]}" | xargs -0 -n 16 -P "$(nproc)" clang-format-19 "${options[@]}"
echo "${#files[@]} files"
