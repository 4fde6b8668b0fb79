//go:build unix

package main

import "syscall"

// keepPrivate has every file that the process makes from now on be its owner's
// alone, those of libraries too.
func keepPrivate() { syscall.Umask(0o077) }
