package mesh

import (
	"net"
	"syscall"
	"testing"
)

// TestEndSilent: the kernel is told when to give a connection up.
func TestEndSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	endSilent(c)
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var got int
	if err := raw.Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout) }); err != nil {
		t.Fatal(err)
	}
	if err != nil || got != int(silentFor.Milliseconds()) {
		t.Errorf("it is given up after %d ms (%v), want %s", got, err, silentFor)
	}
}
