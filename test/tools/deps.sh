#!/usr/bin/env bash
# Installs what the tests need beyond Go where it is missing: a C compiler for
# the race detector, curl for the README's tour, the load balancer of deploy/, ip
# and tc for the fault tests' networks, etcd for the benchmarks' own tests, npm for
# the app's build and for the clients of MCP that others wrote, fish and zsh for their completion, an IRC server, and two browsers:
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
command -v fish >/dev/null || missing+=(fish)
command -v zsh >/dev/null || missing+=(zsh)
command -v ngircd >/dev/null || missing+=(ngircd)
command -v etcd >/dev/null || missing+=(etcd-server)

sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo -n"

# The app is built with node 20, and Debian 12 has 18: npm has it as a package, too.
new_node() {
  local major arch=x64 version=20.20.2 prefix=${PREFIX:-/usr/local}
  major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
  [ "${major:-0}" -lt 20 ] && command -v npm >/dev/null || return 0
  [ "$(uname -m)" = aarch64 ] && arch=arm64
  echo "installing node $version below $prefix"
  $sudo npm install --global --prefix "$prefix" --ignore-scripts --no-audit --no-fund --no-progress "node-linux-$arch@$version" &&
    $sudo ln -sf "../lib/node_modules/node-linux-$arch/bin/node" "$prefix/bin/node" && return 0
  echo "couldn't install node $version"
}

[ ${#missing[@]} -eq 0 ] && { new_node; exit 0; }
if ! command -v apt-get >/dev/null; then
  echo "please install: ${missing[*]}"
  exit 0
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q
install() { $sudo apt-get install -qy --no-install-recommends "$@"; }
install "${missing[@]}" && { new_node; exit 0; }
for package in "${missing[@]}"; do # one that this system hasn't must not cost the others
  install "$package" || echo "couldn't install $package"
done
new_node
exit 0
