package deploy

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ubl/test/built"
)

// TestUnitIsTold stands in systemd's place: a unit of Type=notify hears READY=1 once requests
// are answered, and STOPPING=1 when the stop begins.
func TestUnitIsTold(t *testing.T) {
	dir, err := os.MkdirTemp("", "ubl-notify-") // names of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	told := func(want string) {
		t.Helper()
		buf := make([]byte, 256)
		_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := socket.Read(buf); err != nil || string(buf[:n]) != want {
			t.Fatalf("systemd is told %q, %v; want %q", buf[:n], err, want)
		}
	}
	p := newProcess(t, "ubl",
		[]string{built.Path(t), "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data")},
		[]string{"NOTIFY_SOCKET=" + socket.LocalAddr().String()})
	p.start()
	told("READY=1")
	p.stop()
	told("STOPPING=1")
}
