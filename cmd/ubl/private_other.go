//go:build !unix

package main

// keepPrivate does nothing where files have no modes.
func keepPrivate() {}
