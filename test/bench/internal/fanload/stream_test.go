package fanload

import (
	"fmt"
	"strings"
	"testing"
)

func frames(from, to int) string {
	var b strings.Builder
	b.WriteString("retry: 3000\n\n: keepalive\n\n")
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "id: %d\nevent: message.created\ndata: {\"text\":\"id: 9\"}\n\n", i)
	}
	return b.String()
}

// However the network and the chunks cut the bytes, the events are the same.
func TestStreamAnyCut(t *testing.T) {
	payload := frames(8, 12)
	for chunk := 1; chunk < len(payload); chunk += 7 {
		var wire strings.Builder
		for rest := payload; rest != ""; {
			n := min(chunk, len(rest))
			fmt.Fprintf(&wire, "%x\r\n%s\r\n", n, rest[:n])
			rest = rest[n:]
		}
		for read := 1; read < 40; read += 3 {
			s := &stream{chunked: true, last: 7}
			for rest := wire.String(); rest != ""; {
				n := min(read, len(rest))
				if err := s.feed([]byte(rest[:n])); err != nil {
					t.Fatalf("chunks of %d, reads of %d: %v", chunk, read, err)
				}
				rest = rest[n:]
			}
			if s.events != 5 || s.last != 12 || len(s.carry) != 0 {
				t.Fatalf("chunks of %d, reads of %d: %d events, last %d", chunk, read, s.events, s.last)
			}
		}
	}
}

func TestStreamFindsFaults(t *testing.T) {
	for name, payload := range map[string]string{
		"a gap":        frames(1, 2) + frames(4, 4),
		"a repetition": frames(1, 2) + frames(2, 2),
		"a bad id":     "id: x\nevent: message.created\ndata: {}\n\n",
	} {
		if err := (&stream{}).feed([]byte(payload)); err == nil {
			t.Errorf("%s went unnoticed", name)
		}
	}
	if err := (&stream{chunked: true}).feed([]byte("0\r\n\r\n")); err == nil {
		t.Error("the end went unnoticed")
	}
}
