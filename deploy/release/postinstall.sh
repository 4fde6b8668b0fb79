#!/bin/sh
# The package's user, and a unit that systemd knows. Nothing is started: settings come first, in
# /etc/ubl/ubl.env.
set -e
install -d -m 0755 /etc/ubl
if command -v systemd-sysusers >/dev/null; then systemd-sysusers ubl.conf; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
