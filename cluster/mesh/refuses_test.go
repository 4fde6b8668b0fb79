package mesh

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestRefuses: only an address at which nobody listens says that a process has ended.
func TestRefuses(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, _ := listen(t, s, d, "n2@b")
	refuses := func(serverID string) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		return a.Refuses(ctx, serverID)
	}
	if refuses("n2@b") {
		t.Error("one that listens refuses")
	}
	d.set("n3@c", busy(t))
	if refuses("n3@c") {
		t.Error("one whose machine takes no more connections refuses")
	}
	if refuses("n4@d") {
		t.Error("one that nobody knows refuses")
	}
	d.set("n5@e", "nobody.invalid:1")
	if refuses("n5@e") {
		t.Error("one whose address has no meaning refuses")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if !refuses("n2@b") {
		t.Error("one that has ended doesn't refuse")
	}
}

// busy is the address of a process that doesn't come to take its connections, so that there
// is no room for more.
func busy(t *testing.T) string {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "busy")
	defer f.Close()
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for {
		c, err := net.DialTimeout("tcp", l.Addr().String(), 100*time.Millisecond)
		if err != nil {
			return l.Addr().String()
		}
		t.Cleanup(func() { c.Close() })
	}
}
