package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"ubl"
	"ubl/durable"
)

// ScrubOptions are for [Scrub].
type ScrubOptions struct {
	// Rate is how many bytes are read a second; 0 is as fast as it goes.
	Rate int64
	// Found is told of each blob that isn't what it was; nil for nobody.
	Found func(ubl.TenantID, ubl.BlobID, error)
	// Aside puts such a blob aside, so that it counts as missing from then on; nil leaves it.
	Aside func(ubl.TenantID, ubl.BlobID) error
}

// Scrubbed is what a pass has come to.
type Scrubbed struct{ Blobs, Bytes, Damaged int64 }

// Scrub reads every blob and holds it against its name. One that can't be read keeps it from none
// of the others.
func Scrub(ctx context.Context, of ubl.Blobs, o ScrubOptions) (done Scrubbed, err error) {
	var failures []error
	err = of.Each(ctx, func(t ubl.TenantID, b ubl.Blob) error {
		damaged, err := Check(ctx, of, t, b.ID, o)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case ubl.CodeOf(err) == ubl.CodeNotFound: // removed since it was listed
			return nil
		case err != nil && len(failures) < tellFailures:
			failures = append(failures, fmt.Errorf("%s/%s: %w", t, b.ID, err))
		}
		if damaged {
			done.Damaged++
		}
		done.Blobs++
		done.Bytes += b.Bytes
		return nil
	})
	return done, errors.Join(append(failures, err)...)
}

// tellFailures is how many failures a pass names.
const tellFailures = 10

// Check holds one blob against its name, as Scrub does, and reports whether it is damaged.
func Check(ctx context.Context, of ubl.Blobs, t ubl.TenantID, id ubl.BlobID, o ScrubOptions) (damaged bool, err error) {
	found := read(ctx, of, &pace{ctx: ctx, rate: o.Rate}, t, id)
	if !errors.Is(found, ubl.ErrDamaged) {
		return false, found
	}
	if o.Aside != nil {
		err = o.Aside(t, id)
	}
	if o.Found != nil { // who hears of it looks for another
		o.Found(t, id, found)
	}
	return true, err
}

func read(ctx context.Context, of ubl.Blobs, p *pace, t ubl.TenantID, id ubl.BlobID) error {
	r, err := of.Open(ctx, t, id)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.CopyBuffer(p, struct{ io.Reader }{r}, make([]byte, bufferSize))
	return err
}

// SetAside takes a damaged blob out of those that are kept, and keeps it for who looks into it.
func (f *Folder) SetAside(t ubl.TenantID, id ubl.BlobID) error {
	path, err := f.path(t, id)
	if err != nil {
		return err
	}
	aside := filepath.Join(f.dir, damagedDir)
	if err := makeDirs(aside); err != nil {
		return err
	}
	mu := f.lock(path)
	mu.Lock()
	defer mu.Unlock()
	if err := os.Rename(path, filepath.Join(aside, tenantDir(t)+"."+string(id))); err != nil {
		return failed("put a damaged blob aside", err)
	}
	return errors.Join(durable.Sync(aside), durable.Sync(filepath.Dir(path)))
}

// pace takes bytes in at a rate.
type pace struct {
	ctx  context.Context
	rate int64
}

// Write implements [io.Writer].
func (p *pace) Write(b []byte) (int, error) {
	if p.rate <= 0 {
		return len(b), p.ctx.Err()
	}
	select {
	case <-time.After(time.Duration(int64(len(b)) * int64(time.Second) / p.rate)):
		return len(b), nil
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
}
