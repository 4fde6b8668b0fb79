package blobs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"ubl"
)

const (
	// bufferSize is how much is read, hashed and written at once.
	bufferSize = 1 << 20
	// checkpointEvery is after how many bytes what came in is made durable, where nothing else
	// is said.
	checkpointEvery = 64 << 20
)

// Append adds what from holds at an offset, which must be that of the upload, and answers how
// far the upload is then, durably; also where reading failed on the way. More than the upload's
// length is refused, and nothing of that part is kept.
func (u *Uploads) Append(ctx context.Context, who ubl.Identity, id ubl.UploadID, offset int64, from ubl.Source) (*ubl.Upload, error) {
	o, release, err := u.take(ctx, who, id)
	if err != nil {
		return nil, err
	}
	defer release()
	o.hold(from.Interrupt)
	defer o.hold(nil)
	s := o.now()
	if offset != s.Upload.Offset {
		return &s.Upload, ubl.Errorf(ubl.CodeConflict, "the bytes don't begin where the upload is: see Upload-Offset")
	}
	if s.Whole {
		return &s.Upload, nil
	}
	if err = u.room(s.Tenant); err == nil {
		err = u.bring(o, s, from)
	}
	s = o.now()
	return &s.Upload, err
}

func (o *open) hold(interrupt func()) {
	o.mu.Lock()
	o.interrupt = interrupt
	o.mu.Unlock()
}

// bring takes in what one request brings.
func (u *Uploads) bring(o *open, s session, from io.Reader) (err error) {
	file, err := os.OpenFile(o.data(), os.O_WRONLY, fileMode)
	if err != nil {
		return failed("take an upload in", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	t := &taking{uploads: u, open: o, session: s, file: file, marked: s.Upload.Offset}
	if t.hash, err = hashOf(s); err != nil {
		return err
	}
	// What a killed process left behind its checkpoint is another request's.
	if err := file.Truncate(s.Upload.Offset); err != nil {
		return failed("take an upload in", err)
	}
	if _, err := file.Seek(s.Upload.Offset, io.SeekStart); err != nil {
		return failed("take an upload in", err)
	}
	came := t.copy(from)
	return errors.Join(came, t.end())
}

// taking is a request that brings bytes.
type taking struct {
	uploads *Uploads
	open    *open
	session session
	file    *os.File
	hash    hash.Hash
	marked  int64      // where the newest checkpoint began to be made
	marking chan error // of the checkpoint under way, nil for none
}

// copy writes and hashes what comes in, up to its end or its failure.
func (t *taking) copy(from io.Reader) error {
	buf := make([]byte, bufferSize)
	for {
		n, err := fill(from, buf)
		if over := t.session.Upload.Offset + int64(n) - t.session.Upload.Bytes; over > 0 {
			return ubl.Errorf(ubl.CodeTooLarge, "more bytes came than the upload has")
		}
		if n > 0 {
			if _, err := t.file.Write(buf[:n]); err != nil {
				return failed("take an upload in", err)
			}
			t.hash.Write(buf[:n])
			t.session.Upload.Offset += int64(n)
			if err := t.checkpoint(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return ubl.Errorf(ubl.CodeUnavailable, "the connection broke, or was replaced by a newer one").Because(err)
		}
	}
}

// fill reads until the buffer is full, or no more comes. Bytes may come with an error.
func fill(from io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var read int
		read, err = from.Read(buf[n:])
		n += read
	}
	return n, err
}

// checkpoint begins one where enough has come in since the last, beside what comes next.
func (t *taking) checkpoint() error {
	if t.session.Upload.Offset-t.marked < cmp.Or(t.uploads.opts.CheckpointEvery, checkpointEvery) {
		return nil
	}
	if err := t.settled(); err != nil {
		return err
	}
	if err := t.uploads.room(t.session.Tenant); err != nil {
		return err
	}
	s, err := t.state()
	if err != nil {
		return err
	}
	t.marked, t.marking = s.Upload.Offset, make(chan error, 1)
	go func() { t.marking <- t.mark(s) }()
	return nil
}

// settled waits for the checkpoint under way.
func (t *taking) settled() error {
	if t.marking == nil {
		return nil
	}
	err := <-t.marking
	t.marking = nil
	return err
}

// state is the session as it is after what has come in.
func (t *taking) state() (session, error) {
	s := t.session
	state, err := t.hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return s, fmt.Errorf("couldn't take an upload in: %w", err)
	}
	s.Hash, s.Upload.ExpiresAt = state, expiry(t.uploads.opts.Now())
	return s, nil
}

// mark makes a state durable: the bytes first, then the record that counts them.
func (t *taking) mark(s session) error {
	if err := t.file.Sync(); err != nil {
		return failed("take an upload in", err)
	}
	t.uploads.opts.step("blobs: bytes are durable")
	if err := t.open.write(s); err != nil {
		return failed("take an upload in", err)
	}
	t.uploads.opts.step("blobs: a checkpoint")
	return nil
}

// end is the last checkpoint of a request.
func (t *taking) end() error {
	if err := t.settled(); err != nil {
		return err
	}
	s, err := t.state()
	if err != nil {
		return err
	}
	return t.mark(s)
}

// hashOf is the hash over what has come in so far.
func hashOf(s session) (hash.Hash, error) {
	h := sha256.New()
	if s.Hash != nil {
		if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.Hash); err != nil {
			return nil, fmt.Errorf("couldn't go on with an upload: %w", err)
		}
	}
	return h, nil
}

func sumOf(s session) (ubl.BlobID, error) {
	h, err := hashOf(s)
	if err != nil {
		return "", err
	}
	return ubl.BlobIDOf([sha256.Size]byte(h.Sum(nil))), nil
}
