#!/usr/bin/env bash
# Builds the app from its sources, with the modules that package-lock.json
# pins: into ../dist, or the folder that is given. The views of MCP Apps are in views/ there.
set -euo pipefail
cd "$(dirname "$0")"
out=$(realpath -m "${1:-../dist}")
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-progress >&2
fi
npm run -s check
npx vite build --outDir "$out" --emptyOutDir --logLevel warn
for view in room receipt; do
  VIEW=$view npx vite build --config vite.views.config.ts --outDir "$out/views" --logLevel warn
done
