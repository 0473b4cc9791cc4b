#!/usr/bin/env bash
# clang-tidy over changed C++ files.
#   ops/tidy.sh          files that differ from the base commit, at most 40 of them
#   ops/tidy.sh --all    every file
#   ops/tidy.sh FILE...  these files
# The base is $FUSEFARM_TIDY_BASE, else where this branch left origin/main, else the commit before.
# A header is checked through the source beside it, or alone when there is none.
set -euo pipefail
# shellcheck source=ops/lib/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/common.sh"
readonly files_max=40

command -v clang-tidy-19 >/dev/null || die "no clang-tidy-19: run ops/deps.sh test"
cd "$root"

base_commit() {
  local head fork
  if [[ -n ${FUSEFARM_TIDY_BASE:-} ]]; then
    echo "$FUSEFARM_TIDY_BASE"
    return
  fi
  head=$(git rev-parse HEAD)
  if fork=$(git merge-base HEAD origin/main 2>/dev/null) && [[ $fork != "$head" ]]; then
    echo "$fork"
  elif git rev-parse --verify -q HEAD~1 >/dev/null; then
    echo HEAD~1
  else
    git hash-object -t tree /dev/null  # the empty tree: everything is new
  fi
}

changed_files() {
  git diff --name-only --diff-filter=d "$(base_commit)" -- '*.h' '*.cc'
  git ls-files --others --exclude-standard -- '*.h' '*.cc'
}

case ${1-} in
  '') mapfile -t files < <(changed_files | sort -u) ;;
  --all) mapfile -t files < <(git ls-files -- '*.h' '*.cc') ;;
  *) mapfile -t files < <(realpath --relative-to="$root" -- "$@") ;;
esac

configure tidy
tree=$build_root/tidy
build tidy generated >/dev/null

# Only what some target compiles can be checked: a header through its source, or by its header check.
declare -A units=()
unknown=()
for file in "${files[@]}"; do
  unit=$root/$file
  if [[ $file == *.h ]]; then
    unit=${unit%.h}.cc
    [[ -f $unit ]] || unit=$tree/header_checks/$file.cc
  fi
  if grep -qF "\"file\": \"$unit\"" "$tree/compile_commands.json"; then
    units[$unit]=1
  else
    unknown+=("$file")
  fi
done
((${#unknown[@]} == 0)) || echo "compiled by no target, so not checked: ${unknown[*]}"
mapfile -t chosen < <(printf '%s\n' "${!units[@]}" | grep . | sort)
if [[ ${1-} == '' ]] && ((${#chosen[@]} > files_max)); then
  echo "checking $files_max of ${#chosen[@]} changed files; left out:"
  printf '  %s\n' "${chosen[@]:files_max}"
  chosen=("${chosen[@]:0:files_max}")
fi
if ((${#chosen[@]} == 0)); then
  echo "no C++ file to check"
  exit 0
fi
echo "clang-tidy on ${#chosen[@]} files"
# --quiet still counts the suppressed warnings of system headers; that line is noise.
printf '%s\0' "${chosen[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-19 --quiet -p "$tree" 2> >(grep -v ' warnings\? generated' >&2 || true)
