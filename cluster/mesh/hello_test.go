package mesh

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestPrefaceIsReadAsWritten(t *testing.T) {
	for _, h := range []hello{
		{0, "n2@b", "n1@a"}, {65535, "n2@b", "n1@a"}, {0, "", "n1@a"},
		{7, strings.Repeat("x", maxIDBytes), strings.Repeat("y", maxIDBytes)},
	} {
		b, err := h.encode()
		if err != nil {
			t.Fatal(err)
		}
		rest := bytes.NewBuffer(append(b, "what follows"...))
		if got, err := readHello(rest); err != nil || got != h {
			t.Errorf("wrote %v, read %v, %v", h, got, err)
		}
		if rest.String() != "what follows" {
			t.Errorf("%q is left", rest)
		}
	}
}

func TestBadPrefaces(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         "",
		"half":            "\x01\x00\x00\x04n2",
		"another version": "\x02\x00\x00\x04n2@b\x04n1@a",
		"too long":        "\x01\x00\x00\xff" + strings.Repeat("x", 255) + "\x04n1@a",
		"no sender":       "\x01\x00\x00\x04n2@b\x00",
		"a space":         "\x01\x00\x00\x04n2 b\x04n1@a",
		"a line":          "\x01\x00\x00\x04n2@b\x04n1\na",
		"HTTP":            "GET / HTTP/1.1\r\n\r\n",
	} {
		if h, err := readHello(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read %v", name, h)
		}
	}
	if _, err := (hello{target: "n 2", sender: "n1"}).encode(); err == nil {
		t.Error("a bad target was written")
	}
}

func TestAnswers(t *testing.T) {
	for a, want := range map[answer]error{welcome: nil, wrongServer: ErrWrongServer, notServing: ErrNotServing, itself: errItself} {
		if err := a.err(); !errors.Is(err, want) {
			t.Errorf("answer %d is %v", a, err)
		}
	}
	if answer(0).err() == nil || answer(200).err() == nil {
		t.Error("an unknown answer is a welcome")
	}
}

func FuzzPreface(f *testing.F) {
	f.Add([]byte("\x01\x00\x07\x04n2@b\x04n1@a"))
	f.Add([]byte("\x01\x00\x00\x00\x04n1@arest"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		h, err := readHello(r)
		if err != nil {
			return
		}
		again, err := h.encode()
		if err != nil {
			t.Fatalf("read %v, can't write it: %v", h, err)
		}
		rest, _ := io.ReadAll(r)
		if !bytes.Equal(append(again, rest...), b) {
			t.Fatalf("read %q as %v and left %q", b, h, rest)
		}
	})
}
