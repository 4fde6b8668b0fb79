package irc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"ubl"
	"ubl/durable"
)

const (
	// stateVersion is the version of the file's format.
	stateVersion = 1
	// maxWaiting bounds what waits to be posted while the server can't be reached.
	maxWaiting = 1000
	// maxState is far above a file of so much.
	maxState = 64 << 20
)

// record is the file: how far each channel was told of the room, and what was said in channels and
// isn't posted yet.
type record struct {
	Version  int              `json:"version"`
	Room     ubl.RoomID       `json:"room"`
	Server   string           `json:"server"`
	Channels map[string]place `json:"channels"` // by their folded names
	Waiting  []post           `json:"waiting,omitempty"`
}

// place is how far a channel was told: all up to RoomSeq, and lines of an entry behind that.
type place struct {
	RoomSeq int64 `json:"room_seq"`
	Entry   int64 `json:"entry,omitempty"` // its room_seq
	Lines   int   `json:"lines,omitempty"`
}

// post is something that was said in a channel.
type post struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// state is the file and what it holds. It is safe for concurrent use; each change is durable when
// its method has returned.
type state struct {
	path string

	mu   sync.Mutex
	kept record
	more chan struct{} // has something in it when something waits
}

// openState reads the file, or begins one that isn't there.
func openState(path string, room ubl.RoomID, server string) (*state, error) {
	s := &state{path: path, more: make(chan struct{}, 1)}
	s.kept = record{Version: stateVersion, Room: room, Server: server, Channels: map[string]place{}}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil && info.Size() > maxState {
		err = errors.New("it is too large to be one")
	}
	if err == nil {
		err = s.read()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("couldn't read the bridge's file %s: %w", path, err)
	case s.kept.Version != stateVersion:
		return nil, fmt.Errorf("the bridge's file %s is of version %d, this program knows %d", path, s.kept.Version, stateVersion)
	case s.kept.Room != room || s.kept.Server != server:
		return nil, fmt.Errorf("the bridge's file %s is of %s and %s: give each bridge a file of its own", path, s.kept.Room, s.kept.Server)
	}
	s.signal()
	return s, nil
}

func (s *state) read() error {
	data, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	kept := record{}
	if err := json.Unmarshal(data, &kept); err != nil || kept.Version < 1 {
		return errors.New("it isn't one")
	}
	if kept.Channels == nil {
		kept.Channels = map[string]place{}
	}
	s.kept = kept
	return nil
}

// write makes a change and the file durable. Where that fails nothing has changed.
func (s *state) write(change func(*record)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.kept
	next.Channels = make(map[string]place, len(s.kept.Channels))
	for name, at := range s.kept.Channels {
		next.Channels[name] = at
	}
	change(&next)
	data, err := json.Marshal(next)
	if err == nil {
		err = durable.Replace(s.path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("couldn't write the bridge's file: %w", err)
	}
	s.kept = next
	return nil
}

// place is how far a channel was told; false for one that is new.
func (s *state) place(channel string) (place, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.kept.Channels[folded(channel)]
	return at, known
}

func (s *state) tell(channel string, at place) error {
	return s.write(func(r *record) { r.Channels[folded(channel)] = at })
}

// errFull says that too much waits already.
var errFull = errors.New("too much waits to be posted")

// put has something wait to be posted.
func (s *state) put(p post) error {
	if s.waiting() >= maxWaiting {
		return errFull
	}
	err := s.write(func(r *record) { r.Waiting = append(r.Waiting[:len(r.Waiting):len(r.Waiting)], p) })
	s.signal()
	return err
}

func (s *state) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept.Waiting)
}

func (s *state) signal() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// first is what has waited longest.
func (s *state) first() (post, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept.Waiting) == 0 {
		return post{}, false
	}
	return s.kept.Waiting[0], true
}

// done takes away what has waited longest.
func (s *state) done() error {
	return s.write(func(r *record) { r.Waiting = r.Waiting[1:] })
}
