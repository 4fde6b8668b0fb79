package blobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"ubl"
)

// Scanner looks into contents before anybody is offered them. Safe for concurrent use.
type Scanner interface {
	// Scan reads a content of somebody's to its end and answers what was found in it, "" for nothing.
	// An error is one of the table, and says that nothing is known: the content isn't kept then.
	// People have their turns, however much one of them brings.
	Scan(ctx context.Context, of ubl.Identity, content io.Reader) (found string, err error)
}

// scanning is a look into an upload that is whole. It goes on when its caller has given up: who asks next
// has what it found, and what it found is refused whether anybody asks or not.
type scanning struct {
	done  chan struct{}
	found string // once done: it is on record then, and the bytes are gone
	err   error  // once done
}

// recordTimeout bounds putting on record that something was found, which doesn't end with its sender.
const recordTimeout = time.Minute

// scanAgain is when it is worth asking again for an upload that is being looked into.
const scanAgain = 2 * time.Second

func errScanning() *ubl.Error {
	return ubl.Errorf(ubl.CodeUnavailable, "the file is still being checked for malware: ask again").Later(scanAgain)
}

// errFound refuses a content for what is in it.
func errFound(found string) *ubl.Error {
	err := ubl.Errorf(ubl.CodeForbidden, "the file is malware (%s), and wasn't taken", found)
	err.Details = map[string]string{"found": found}
	return err
}

// clean refuses a whole upload unless nothing is found in it. It waits for the scan as long as its
// caller does, and no newer request needs the session.
func (u *Uploads) clean(ctx context.Context, who ubl.Identity, id ubl.UploadID, o *open, s session) error {
	if u.opts.Scanner == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.hold(cancel)
	defer o.hold(nil)
	scan := u.scan(ctx, who, o)
	select {
	case <-scan.done:
	case <-ctx.Done():
		return errScanning()
	}
	switch {
	case scan.err != nil:
		o.rescan()
		return scan.err
	case scan.found == "":
		return nil
	}
	return u.refused(id, o, scan.found)
}

// refused tells the sender of an upload what was found in it, and ends it.
func (u *Uploads) refused(id ubl.UploadID, o *open, found string) error {
	if err := u.forget(id, o); err != nil {
		return err
	}
	return errFound(found)
}

// scan is the look into an upload, begun unless it is under way or done.
func (u *Uploads) scan(ctx context.Context, who ubl.Identity, o *open) *scanning {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.scan != nil {
		return o.scan
	}
	scan := &scanning{done: make(chan struct{})}
	o.scan = scan
	ctx = context.WithoutCancel(ctx) // a scanner bounds its own time
	u.opts.Panics.Go(nil, "a scan for malware", func() {
		defer close(scan.done)
		scan.err = u.opts.Panics.Try("a scan for malware", func() error { // one that panics has found nothing out
			found, err := u.look(ctx, who, o)
			if err == nil && found != "" {
				err = u.refuse(ctx, who, o, found)
			}
			if err == nil {
				scan.found = found
			}
			return err
		})
	})
	return scan
}

// look has the scanner read what has come in.
func (u *Uploads) look(ctx context.Context, who ubl.Identity, o *open) (found string, err error) {
	file, err := os.Open(o.data())
	if err != nil {
		return "", failed("look into an upload", err)
	}
	defer file.Close()
	return u.opts.Scanner.Scan(ctx, who, file)
}

// refuse puts on record what was found in an upload, and throws its bytes away. No request changes the
// session meanwhile: it is whole, and who wants to keep it waits for the scan. It may have ended.
func (u *Uploads) refuse(ctx context.Context, who ubl.Identity, o *open, found string) error {
	s := o.now()
	if err := u.record(ctx, who, s.Upload.Bytes, found); err != nil {
		return err
	}
	s.Found = found
	if err := o.write(s); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("refuse an upload", err)
	}
	if err := os.Remove(o.data()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("refuse an upload", err)
	}
	return nil
}

// record puts on record that a content was refused, also where its sender has left.
func (u *Uploads) record(ctx context.Context, who ubl.Identity, bytes int64, found string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return u.opts.Refused(ctx, who, bytes, found)
}

// rescan has the next request look again.
func (o *open) rescan() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scan = nil
}

// looked is the upload while it is being looked into, nil at any other time.
func (o *open) looked() *ubl.Upload {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.scan == nil || o.session.Kept {
		return nil
	}
	select {
	case <-o.scan.done:
		return nil
	default:
		up := o.session.Upload
		up.Scanning = true
		return &up
	}
}

// cleanContent refuses a content that came as a whole unless nothing is found in it.
func (u *Uploads) cleanContent(ctx context.Context, who ubl.Identity, content []byte) error {
	if u.opts.Scanner == nil {
		return nil
	}
	found, err := u.opts.Scanner.Scan(ctx, who, bytes.NewReader(content))
	if err != nil || found == "" {
		return err
	}
	if err := u.record(ctx, who, int64(len(content)), found); err != nil {
		return err
	}
	return errFound(found)
}
