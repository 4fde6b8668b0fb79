package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// browse opens an address in the user's browser. Where there is none, or where it should
// only be printed, it goes to standard output.
func (p *program) browse(ctx context.Context, address string, print bool) error {
	if !print && p.openBrowser(ctx, address) == nil {
		fmt.Fprintf(p.err, "Opened in your browser: %s\n", withoutSecret(address))
		return nil
	}
	_, err := fmt.Fprintln(p.out, address)
	return err
}

// openBrowser starts the user's browser: the program that BROWSER names, else what this
// system has for it. It fails where there is no screen to show one on.
func (p *program) openBrowser(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch {
	case p.env["BROWSER"] != "":
		name = p.env["BROWSER"]
	case runtime.GOOS == "darwin":
		name = "open"
	case runtime.GOOS == "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	case p.env["DISPLAY"] == "" && p.env["WAYLAND_DISPLAY"] == "":
		return fmt.Errorf("there is no screen")
	}
	return exec.CommandContext(ctx, name, args...).Run()
}

// withoutSecret is an address without what a link's path ends with, for a terminal that
// others may read later.
func withoutSecret(address string) string {
	if at := strings.Index(address, "/signin/"); at >= 0 {
		return address[:at+len("/signin/")] + "…"
	}
	return address
}
