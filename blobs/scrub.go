package blobs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"ubl"
	"ubl/durable"
)

// ScrubOptions are for [Folder.Scrub].
type ScrubOptions struct {
	// Rate is how many bytes are read a second; 0 is as fast as it goes.
	Rate int64
	// Found is told of each blob that isn't what it was; nil for nobody.
	Found func(ubl.TenantID, ubl.BlobID, error)
	// Aside says that such a blob is put aside, so that it counts as missing from then on.
	Aside bool
}

// Scrubbed is what a pass has come to.
type Scrubbed struct{ Blobs, Bytes, Damaged int64 }

// Scrub reads every blob and holds it against its name.
func (f *Folder) Scrub(ctx context.Context, o ScrubOptions) (done Scrubbed, err error) {
	pace := &pace{ctx: ctx, rate: o.Rate}
	err = f.Each(ctx, func(t ubl.TenantID, b ubl.Blob) error {
		err := f.check(ctx, pace, t, b.ID)
		switch {
		case ubl.CodeOf(err) == ubl.CodeNotFound: // removed since it was listed
			return nil
		case errors.Is(err, ubl.ErrDamaged):
			done.Damaged++
			found := err
			if err = nil; o.Aside {
				err = f.setAside(t, b.ID)
			}
			if o.Found != nil { // who hears of it looks for another
				o.Found(t, b.ID, found)
			}
		}
		done.Blobs++
		done.Bytes += b.Bytes
		return err
	})
	return done, err
}

func (f *Folder) check(ctx context.Context, p *pace, t ubl.TenantID, id ubl.BlobID) error {
	r, err := f.Open(ctx, t, id)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.CopyBuffer(p, struct{ io.Reader }{r}, make([]byte, bufferSize))
	return err
}

// setAside takes a damaged blob out of those that are kept, and keeps it for who looks into it.
func (f *Folder) setAside(t ubl.TenantID, id ubl.BlobID) error {
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
