#!/usr/bin/env bash
# Installs what the tests need beyond Go where it is missing: a C compiler for
# the race detector, curl for the README's tour, the load balancer of deploy/, ip
# and tc for the fault tests' networks, etcd for the benchmarks' own tests, npm for
# the app's build and for the clients of MCP that others wrote, and two browsers:
# Chromium, and WebKit with its driver and a display for it.
# Where it can't, it says so and lets the tests that need it say the rest.
set -uo pipefail
missing=()
command -v "${CC:-gcc}" >/dev/null || missing+=(gcc libc6-dev)
command -v curl >/dev/null || missing+=(curl ca-certificates)
command -v haproxy >/dev/null || missing+=(haproxy)
command -v ip >/dev/null || missing+=(iproute2)
command -v npm >/dev/null || missing+=(nodejs npm)
command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
command -v WebKitWebDriver >/dev/null || missing+=(webkit2gtk-driver)
command -v Xvfb >/dev/null || missing+=(xvfb)
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
$sudo apt-get update -q
install() { $sudo apt-get install -qy --no-install-recommends "$@"; }
install "${missing[@]}" && exit 0
for package in "${missing[@]}"; do # one that this system hasn't must not cost the others
  install "$package" || echo "couldn't install $package"
done
exit 0
