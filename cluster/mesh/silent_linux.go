package mesh

import (
	"net"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h, in milliseconds.
const tcpUserTimeout = 0x12

// endSilent has the kernel end a connection whose peer's machine confirms nothing
// for silentFor. After a cut TCP would try again later and later, and what uses the
// connection would wait for that long after the cut has healed.
func endSilent(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // without it, keep-alive ends it later
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silentFor.Milliseconds()))
		})
	}
}
