#!/usr/bin/env bash
# Installs what the tests need beyond Go where it is missing: a C compiler for
# the race detector, curl for the README's tour, the load balancer of deploy/, ip
# and tc for the fault tests' networks, etcd for the benchmarks' own tests, and npm
# for the app's build and for the clients of MCP that others wrote.
# Where it can't, it says so and lets the tests that need it say the rest.
set -uo pipefail
missing=()
command -v "${CC:-gcc}" >/dev/null || missing+=(gcc libc6-dev)
command -v curl >/dev/null || missing+=(curl ca-certificates)
command -v haproxy >/dev/null || missing+=(haproxy)
command -v ip >/dev/null || missing+=(iproute2)
command -v npm >/dev/null || missing+=(nodejs npm)
command -v etcd >/dev/null || missing+=(etcd-server)
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "please install: ${missing[*]}"
  exit 0
fi
sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo -n"
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q && $sudo apt-get install -qy --no-install-recommends "${missing[@]}" || echo "couldn't install ${missing[*]}"
exit 0
