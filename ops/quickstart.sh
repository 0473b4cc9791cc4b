#!/usr/bin/env bash
# From a bare Debian 12 to a finished search on this machine's CPU: installs the packages, builds the
# programs, runs configs/quickstart.yaml. Arguments go to `fusefarm run`; its exit code is ours.
set -euo pipefail
# shellcheck source=ops/lib/common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib/common.sh"

"$root/ops/deps.sh" build
configure release
echo "building the programs in $build_root/release"
build release programs
exec "$build_root/release/fusefarm" run "$root/configs/quickstart.yaml" "$@"
