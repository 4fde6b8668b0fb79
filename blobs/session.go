package blobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ubl"
	"ubl/durable"
)

// session is an upload on disk, as the JSON of its record. One of a newer version ends with a
// start of this one: its sender begins again.
type session struct {
	Form   int          `json:"v"`
	Tenant ubl.TenantID `json:"tenant"`
	By     ubl.UserID   `json:"by"`
	Upload ubl.Upload   `json:"upload"`
	// Wants is the hash that its sender has announced, "" for none.
	Wants ubl.BlobID `json:"wants,omitempty"`
	// Hash is the state of the hash over what comes before the upload's offset.
	Hash []byte `json:"hash,omitempty"`
	// Whole is set once the hash is known: what is left is to keep the blob.
	Whole bool `json:"whole,omitempty"`
	// Kept is set once that is done. The data is gone then.
	Kept bool `json:"kept,omitempty"`
	// Found is what its content was refused for, which is on record then. The data is gone, and who asks
	// again hears of it.
	Found string `json:"found,omitempty"`
}

const (
	sessionVersion = 1
	dataName       = "data"
	recordName     = "upload"
)

// open is a session in memory: one request has it at a time.
type open struct {
	dir string

	mu        sync.Mutex // guards what follows
	session   session
	busy      chan struct{} // holds a token while a request has the session
	interrupt func()        // of that request
	scan      *scanning     // nil before its content is looked into
}

func (o *open) now() session {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.session
}

func (o *open) data() string { return filepath.Join(o.dir, dataName) }

// write makes a session's record durable, and then the one in memory. Only the request that has
// the session writes, so the disk keeps nobody else waiting.
func (o *open) write(s session) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := durable.Replace(filepath.Join(o.dir, recordName), text); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.session = s
	return nil
}

// drop removes a session and what has come in of it.
func (o *open) drop() error {
	if err := os.RemoveAll(o.dir); err != nil {
		return failed("end an upload", err)
	}
	return failed("end an upload", durable.Sync(filepath.Dir(o.dir)))
}

func errEnded() *ubl.Error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such upload, or it has ended: begin again")
}

// dirOf is where a session lies.
func dirOf(id ubl.UploadID) string { return strings.Replace(string(id), ":", "_", 1) }

// load reads what is left of an earlier run: sessions are taken up again, files on their way
// into the folder are thrown away, and so is what an interrupted Begin has left.
func load(dir string) (map[ubl.UploadID]*open, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	sessions := make(map[ubl.UploadID]*open)
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		id := ubl.UploadID(strings.Replace(entry.Name(), "_", ":", 1))
		if !id.Valid() {
			if strings.HasPrefix(entry.Name(), putPrefix) {
				err = os.Remove(path)
			}
		} else if s, readErr := readSession(path, id); readErr == nil {
			sessions[id] = &open{dir: path, session: s, busy: make(chan struct{}, 1)}
		} else {
			err = os.RemoveAll(path)
		}
		if err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

func readSession(dir string, id ubl.UploadID) (s session, err error) {
	text, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, err
	}
	if s.Form != sessionVersion || s.Upload.UploadID != id {
		return s, fmt.Errorf("the record of an upload is of version %d, this program knows %d", s.Form, sessionVersion)
	}
	info, err := os.Lstat(filepath.Join(dir, dataName))
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Whole: // it was moved where it belongs
		return s, nil
	case err != nil:
		return s, err
	case info.Size() < s.Upload.Offset:
		return s, errors.New("what came in of an upload is cut short")
	}
	return s, nil
}

// expiry is when a session ends that had its last byte just now.
func expiry(now time.Time) ubl.Time { return ubl.TimeOf(now).Add(Patience) }
