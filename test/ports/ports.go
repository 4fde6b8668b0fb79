// Package ports is for tests that have to know an address before a program listens on it,
// or while it doesn't.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// The ports that are given out lie below those that systems choose themselves: a server
// that listens on port 0, or a connection, would take one before its program does.
const first, last = 10_000, 32_000

// unsafe is the one of them that browsers open no page on (https://fetch.spec.whatwg.org/#port-blocking).
const unsafe = 10_080

var given sync.Map // by this process

// Free is a loopback address on which nobody listens, "127.0.0.1:10000". No test of this
// process gets it a second time.
func Free(t testing.TB) string {
	t.Helper()
	for range last - first {
		port := first + rand.IntN(last-first)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if port == unsafe {
			continue
		}
		if _, taken := given.LoadOrStore(address, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}
