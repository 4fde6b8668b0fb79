package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"ubl/portal/stdio"
	"ubl/transport/mcp/script"
)

func main() {
	script.RunIfChild()
	stdio.RunIfChild()
	keepPrivate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default is back: a second one ends the process
	// where stopping takes too long.
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
