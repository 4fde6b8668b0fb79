#!/usr/bin/env bash
# The last step of `make release`: the container image of what goreleaser has left in dist/, with
# its place in the checksums. With an argument a registry is given the image under that name.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n 's/.*"version":"\([^"]*\)".*/\1/p' dist/metadata.json)
image="dist/ubl_${version}_image.tar"
.cache/release image --version "$version" --created "$COMMIT_SECONDS" --out "$image" ${1:+--push "$1"} dist/*_linux_*/ubl
(cd dist && sha256sum "$(basename "$image")" >>SHA256SUMS)
