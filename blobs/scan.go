package blobs

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"ubl"
)

// Scanner looks into contents before anybody is offered them. Safe for concurrent use.
type Scanner interface {
	// Scan reads a content to its end and answers what was found in it, "" for nothing. An error
	// is one of the table, and says that nothing is known: the content isn't kept then.
	Scan(ctx context.Context, content io.Reader) (found string, err error)
}

// scanning is a look into an upload that is whole. It goes on when who asked for it has given up: who asks next
// has what it found.
type scanning struct {
	done  chan struct{}
	found string // once done
	err   error  // once done
}

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
	scan := u.scan(ctx, o)
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
	if err := u.opts.Refused(ctx, who, s.Upload.Bytes, scan.found); err != nil {
		return err
	}
	if err := u.forget(id, o); err != nil {
		return err
	}
	return errFound(scan.found)
}

// scan is the look into an upload, begun unless it is under way or done.
func (u *Uploads) scan(ctx context.Context, o *open) *scanning {
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
		scan.err = u.opts.Panics.Try("a scan for malware", func() (err error) { // one that panics has found nothing out
			scan.found, err = u.look(ctx, o)
			return err
		})
	})
	return scan
}

// look has the scanner read what has come in.
func (u *Uploads) look(ctx context.Context, o *open) (found string, err error) {
	file, err := os.Open(o.data())
	if err != nil {
		return "", failed("look into an upload", err)
	}
	defer file.Close()
	return u.opts.Scanner.Scan(ctx, file)
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
	found, err := u.opts.Scanner.Scan(ctx, bytes.NewReader(content))
	if err != nil || found == "" {
		return err
	}
	if err := u.opts.Refused(ctx, who, int64(len(content)), found); err != nil {
		return err
	}
	return errFound(found)
}
