//go:build !linux

package mesh

import "net"

// endSilent is for Linux; elsewhere keep-alive ends silent connections.
func endSilent(net.Conn) {}
