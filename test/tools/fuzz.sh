#!/usr/bin/env bash
# Runs every fuzz target of the module for the time given, one after the other.
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-30s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The go command sometimes reports its own deadline as a failure when a worker
# is busy at the end of the time; an input that fails is always written.
fuzz() {
  if go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$time" 2>&1 | tee "$log"; then
    return 0
  fi
  grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"
}

grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | sort -u); do
    echo "== $dir $target"
    fuzz "$dir" "$target"
  done
done
