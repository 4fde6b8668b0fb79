package main

import (
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notify tells systemd, where it has started the server as Type=notify, how that is doing:
// "READY=1" once requests are answered, "STOPPING=1" from a stop's begin (sd_notify(3)). A node of
// a cluster is started when it listens, not when enough others are there: to wait for them would
// have `systemctl start` hang on the first of three machines.
func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("couldn't tell systemd how the server is doing", "error", err)
	}
}
