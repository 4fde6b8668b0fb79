#!/usr/bin/env bash
# Runs govulncheck. Without its database (no network) that is said, and nothing
# fails; a vulnerability that was found does fail.
set -uo pipefail
cd "$(dirname "$0")/../.."
out=$(timeout 120 go tool -modfile=test/tools/go.mod govulncheck ./... 2>&1)
status=$?
if [ $status -ne 0 ] && ! grep -q '^Vulnerability #' <<<"$out"; then
  echo "govulncheck didn't run here: $(tail -n 1 <<<"$out")"
  exit 0
fi
echo "$out"
exit $status
