package irc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestState: what was written is there again, and the channel's name has no case.
func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridge.json")
	s := opens(t, path)
	if _, known := s.place("#UBL"); known {
		t.Error("a new file knows a channel")
	}
	for _, err := range []error{s.tell("#UBL", place{RoomSeq: 7, Entry: 8, Lines: 2}), s.put(post{"k1", "one"}), s.put(post{"k2", "two"}), s.done()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s = opens(t, path)
	at, known := s.place("#ubl")
	if first, some := s.first(); !known || at != (place{7, 8, 2}) || !some || first != (post{"k2", "two"}) {
		t.Errorf("it has %+v and %+v", at, first)
	}
	if _, err := openState(path, "r:other", "irc.test:6697"); err == nil || !strings.Contains(err.Error(), "of its own") {
		t.Errorf("another bridge's file is taken: %v", err)
	}
}

func opens(t *testing.T, path string) *state {
	t.Helper()
	s, err := openState(path, "r:general", "irc.test:6697")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStateOfVersion1: files that are kept go on being read, and what is none is left alone.
func TestStateOfVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridge.json")
	const kept = `{"version":1,"room":"r:general","server":"irc.test:6697","channels":{"#ubl":{"room_seq":7,"entry":8,"lines":2}},"waiting":[{"key":"k","text":"one"}]}`
	for content, want := range map[string]string{
		kept: "",
		strings.Replace(kept, `"version":1`, `"version":2`, 1): "of version 2",
		`{}`:     "it isn't one",
		"secret": "it isn't one",
		"":       "it isn't one",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openState(path, "r:general", "irc.test:6697")
		if want == "" {
			if at, _ := s.place("#ubl"); err != nil || at != (place{7, 8, 2}) || s.waiting() != 1 {
				t.Errorf("it has %+v, %v", at, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
		if after, _ := os.ReadFile(path); string(after) != content {
			t.Errorf("%q was written over", content)
		}
	}
}

// TestStateHasABound: what can't be posted doesn't grow for ever.
func TestStateHasABound(t *testing.T) {
	s := opens(t, filepath.Join(t.TempDir(), "bridge.json"))
	s.kept.Waiting = make([]post, maxWaiting)
	if err := s.put(post{"k", "one too many"}); !errors.Is(err, errFull) || s.waiting() != maxWaiting {
		t.Errorf("%v, and %d wait", err, s.waiting())
	}
}
