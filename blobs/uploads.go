package blobs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ubl"
	"ubl/durable"
)

// Patience is how long an upload waits for its next byte.
const Patience = 24 * time.Hour

// Uploads take contents in, to be kept as blobs. Safe for concurrent use.
type Uploads struct {
	dir  string
	into ubl.Blobs
	node string
	opts Options

	mu  sync.Mutex
	all map[ubl.UploadID]*open
	// brought is what was kept of each tenant within [Grace], in order. It may still be on the
	// disk, whether a file has it or not.
	brought map[ubl.TenantID][]brought
}

// brought is how many bytes were kept within an hour that began then.
type brought struct {
	at    ubl.Time
	bytes int64
}

const (
	// slack is how many times what a tenant may store its uploads may bring in within [Grace]: so
	// files can be replaced by others, and nobody fills a disk with what no file has.
	slack = 2
	// answered is how many kept uploads of one person are remembered, for who asks again.
	answered = 100
)

// OpenUploads opens the uploads in the folder of blobs dir, which go on where they were. Those
// that begin here bear the node's digits ([ubl.UploadNode]).
func OpenUploads(dir string, into ubl.Blobs, node string, o Options) (*Uploads, error) {
	u := &Uploads{dir: filepath.Join(dir, uploadsDir), into: into, node: node, opts: o, brought: make(map[ubl.TenantID][]brought)}
	err := makeDirs(u.dir)
	if err == nil {
		u.all, err = load(u.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't open the uploads: %w", err)
	}
	kept := slices.DeleteFunc(slices.Collect(maps.Values(u.all)), func(o *open) bool { return !o.session.Kept })
	slices.SortFunc(kept, earlier)
	for _, o := range kept {
		u.note(o.session.Tenant, o.session.Upload.ExpiresAt.Add(-Patience), o.session.Upload.Bytes)
	}
	return u, nil
}

// earlier orders sessions by their last byte.
func earlier(a, b *open) int {
	return cmp.Compare(a.session.Upload.ExpiresAt, b.session.Upload.ExpiresAt)
}

// Begin makes an upload of so many bytes. What wants its SHA256 to be checked says which.
func (u *Uploads) Begin(_ context.Context, who ubl.Identity, up ubl.Upload) (*ubl.Upload, error) {
	if up.Bytes < 0 || up.Bytes > ubl.MaxFileBytes || up.SHA256 != "" && !up.SHA256.Valid() {
		return nil, ubl.Errorf(ubl.CodeValidation, "the size or the hash of the file is not one")
	}
	id, err := ubl.NewUploadID(u.node, u.opts.Random)
	if err != nil {
		return nil, err
	}
	up.UploadID, up.Offset, up.ExpiresAt = id, 0, expiry(u.opts.Now())
	s := session{Form: sessionVersion, Tenant: who.TenantID, By: who.UserID, Upload: up, Wants: up.SHA256}
	o := &open{dir: filepath.Join(u.dir, dirOf(id)), session: s, busy: make(chan struct{}, 1)}
	if err := u.add(id, o); err != nil {
		return nil, err
	}
	if err := u.lay(o, s); err != nil {
		return nil, errors.Join(failed("begin an upload", err), u.forget(id, o))
	}
	return &up, nil
}

// lay puts a session on disk.
func (u *Uploads) lay(o *open, s session) error {
	if err := os.Mkdir(o.dir, dirMode); err != nil {
		return err
	}
	u.opts.step("blobs: a directory for the upload")
	if err := durable.Write(o.data(), nil); err != nil {
		return err
	}
	if err := o.write(s); err != nil {
		return err
	}
	u.opts.step("blobs: begun")
	return durable.Sync(u.dir)
}

// add takes a session in where there is room for one more.
func (u *Uploads) add(id ubl.UploadID, o *open) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	of, in := 0, 0
	for _, other := range u.all {
		s := other.now()
		if s.Kept || s.Tenant != o.session.Tenant {
			continue
		}
		in++
		if s.By == o.session.By {
			of++
		}
	}
	err := u.opts.Quota.Within(ubl.QuotaUploadsIdentity, of)
	if err == nil {
		err = u.opts.Quota.Within(ubl.QuotaUploadsTenant, in)
	}
	if err == nil {
		err = u.mayBring(o.session.Tenant, o.session.Upload.Bytes)
	}
	if err != nil {
		return err
	}
	u.all[id] = o
	return nil
}

// Staged is how many bytes count where somebody begins another upload: all of those that they
// have begun on this node, and what has come in of others'. So who brings nothing keeps nobody out.
func (u *Uploads) Staged(who ubl.Identity) (n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, o := range u.all {
		switch s := o.now(); {
		case s.Tenant != who.TenantID || s.Kept:
		case s.By == who.UserID:
			n += s.Upload.Bytes
		default:
			n += s.Upload.Offset
		}
	}
	return n
}

// mayBring refuses a tenant more where it has brought in what it may; u.mu is held.
func (u *Uploads) mayBring(t ubl.TenantID, more int64) error {
	for _, o := range u.all {
		if s := o.now(); s.Tenant == t && !s.Kept {
			more += s.Upload.Offset
		}
	}
	u.forgetBrought(t)
	for _, b := range u.brought[t] {
		more += b.bytes
	}
	if err := u.opts.Quota.Within(ubl.QuotaBytes, int(max(more-1, 0)/slack)); err != nil {
		return ubl.Errorf(ubl.CodeQuotaExceeded, "the tenant has brought in %d times what it may store (bytes-tenant) within two days: bring more later", slack).Because(err)
	}
	return nil
}

func (u *Uploads) forgetBrought(t ubl.TenantID) {
	since := ubl.TimeOf(u.opts.Now()).Add(-Grace)
	left := slices.DeleteFunc(u.brought[t], func(b brought) bool { return b.at <= since })
	if u.brought[t] = left; len(left) == 0 {
		delete(u.brought, t)
	}
}

// note counts what was kept; u.mu is held, or nobody else has u yet.
func (u *Uploads) note(t ubl.TenantID, at ubl.Time, bytes int64) {
	list := u.brought[t]
	if last := len(list) - 1; last >= 0 && at < list[last].at.Add(time.Hour) {
		list[last].bytes += bytes
		return
	}
	u.brought[t] = append(list, brought{at, bytes})
}

// Brought counts bytes that a tenant has brought in by way of another node.
func (u *Uploads) Brought(t ubl.TenantID, bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.note(t, ubl.TimeOf(u.opts.Now()), bytes)
}

// room is mayBring for what comes next of an upload.
func (u *Uploads) room(t ubl.TenantID) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.mayBring(t, 1)
}

// find is an upload of who asks. Others' are like those that never were.
func (u *Uploads) find(who ubl.Identity, id ubl.UploadID) (*open, error) {
	u.mu.Lock()
	o := u.all[id]
	u.mu.Unlock()
	if o == nil {
		return nil, errEnded()
	}
	if s := o.now(); s.Tenant != who.TenantID || s.By != who.UserID || s.Upload.ExpiresAt <= ubl.TimeOf(u.opts.Now()) {
		return nil, errEnded()
	}
	return o, nil
}

// take has somebody's session to itself, from when nobody else has it; who has it is interrupted.
func (u *Uploads) take(ctx context.Context, who ubl.Identity, id ubl.UploadID) (o *open, release func(), err error) {
	if o, err = u.find(who, id); err != nil {
		return nil, nil, err
	}
	if release, err = o.take(ctx); err != nil {
		return nil, nil, err
	}
	if _, err := u.find(who, id); err != nil { // it has ended meanwhile
		release()
		return nil, nil, err
	}
	return o, release, nil
}

func (o *open) take(ctx context.Context) (release func(), err error) {
	for {
		o.mu.Lock()
		if o.interrupt != nil {
			o.interrupt()
		}
		o.mu.Unlock()
		select {
		case o.busy <- struct{}{}:
			return func() { <-o.busy }, nil
		case <-ctx.Done():
			return nil, ubl.AsError(ctx.Err())
		case <-time.After(interruptEvery): // of who took it before us
		}
	}
}

// interruptEvery is how often who has a session is interrupted while others wait.
const interruptEvery = 100 * time.Millisecond

// Look tells how far an upload is. Who still brings bytes for it is interrupted: their
// connection is a leftover, else nobody would ask. One that is being looked into says so at once.
func (u *Uploads) Look(ctx context.Context, who ubl.Identity, id ubl.UploadID) (*ubl.Upload, error) {
	if o, err := u.find(who, id); err == nil {
		if up := o.looked(); up != nil {
			return up, nil
		}
	}
	o, release, err := u.take(ctx, who, id)
	if err != nil {
		return nil, err
	}
	defer release()
	up := o.now().Upload
	return &up, nil
}

// End ends an upload, and removes what has come in of it.
func (u *Uploads) End(ctx context.Context, who ubl.Identity, id ubl.UploadID) error {
	o, release, err := u.take(ctx, who, id)
	if err != nil {
		return err
	}
	defer release()
	return u.forget(id, o)
}

func (u *Uploads) forget(id ubl.UploadID, o *open) error {
	u.mu.Lock()
	delete(u.all, id)
	u.mu.Unlock()
	return o.drop()
}

// Sweep ends uploads whose time is over, and tells how many those were.
func (u *Uploads) Sweep(ctx context.Context) (n int, err error) {
	now := ubl.TimeOf(u.opts.Now())
	u.mu.Lock()
	over := make(map[ubl.UploadID]*open)
	for id, o := range u.all {
		if o.now().Upload.ExpiresAt <= now {
			over[id] = o
		}
	}
	u.mu.Unlock()
	for id, o := range over {
		release, taken := o.take(ctx)
		if taken != nil {
			return n, errors.Join(err, taken)
		}
		if o.now().Upload.ExpiresAt <= now {
			err = errors.Join(err, u.forget(id, o))
			n++
		}
		release()
	}
	return n, err
}

// Finish keeps a whole upload as a blob, once; each later time it answers the same.
func (u *Uploads) Finish(ctx context.Context, who ubl.Identity, id ubl.UploadID) (*ubl.Upload, error) {
	o, release, err := u.take(ctx, who, id)
	if err != nil {
		return nil, err
	}
	defer release()
	s := o.now()
	if !s.Kept {
		if s, err = u.keep(ctx, who, id, o, s); err != nil {
			return nil, err
		}
	}
	return &s.Upload, nil
}

func (u *Uploads) keep(ctx context.Context, who ubl.Identity, id ubl.UploadID, o *open, s session) (session, error) {
	if s.Upload.Offset < s.Upload.Bytes {
		return s, ubl.Errorf(ubl.CodeConflict, "the upload isn't whole yet: %d of %d bytes are here", s.Upload.Offset, s.Upload.Bytes)
	}
	if !s.Whole {
		sum, err := sumOf(s)
		if err != nil {
			return s, err
		}
		if s.Wants != "" && s.Wants != sum {
			return s, errors.Join(ubl.Errorf(ubl.CodeConflict, "the content isn't what its hash says: begin again"), u.forget(id, o))
		}
		s.Upload.SHA256, s.Whole, s.Hash = sum, true, nil
		if err := o.write(s); err != nil {
			return s, failed("finish an upload", err)
		}
		u.opts.step("blobs: whole")
	}
	// A file that is gone was refused, or became a blob before the process ended, and was looked into then.
	_, err := os.Lstat(o.data())
	if found := o.now().Found; found != "" { // asked for once the file was: it is written before the file goes
		return s, u.refused(id, o, found)
	}
	if err == nil {
		if err := u.clean(ctx, who, id, o, s); err != nil {
			return s, err
		}
	}
	if err := u.into.Keep(ctx, s.Tenant, s.Upload.SHA256, o.data()); err != nil {
		return s, err
	}
	u.Brought(s.Tenant, s.Upload.Bytes)
	s.Kept = true
	u.opts.step("blobs: kept")
	if err := o.write(s); err != nil {
		return s, failed("finish an upload", err)
	}
	return s, u.forgetAnswered(s)
}

// forgetAnswered forgets what nobody will ask for any more: kept uploads before the newest.
func (u *Uploads) forgetAnswered(by session) (err error) {
	u.mu.Lock()
	var kept []*open
	for _, o := range u.all {
		if s := o.now(); s.Kept && s.Tenant == by.Tenant && s.By == by.By {
			kept = append(kept, &open{dir: o.dir, session: s})
		}
	}
	u.mu.Unlock()
	slices.SortFunc(kept, earlier)
	for ; len(kept) > answered; kept = kept[1:] {
		err = errors.Join(err, u.forget(kept[0].session.Upload.UploadID, kept[0]))
	}
	return err
}

// Put keeps a content that came as a whole, without an upload.
func (u *Uploads) Put(ctx context.Context, who ubl.Identity, content []byte) (ubl.BlobID, error) {
	u.mu.Lock()
	err := u.mayBring(who.TenantID, int64(len(content)))
	u.mu.Unlock()
	if err == nil {
		err = u.cleanContent(ctx, who, content)
	}
	if err != nil {
		return "", err
	}
	id := ubl.BlobIDOf(sha256.Sum256(content))
	file, err := stage(u.dir, bytes.NewReader(content), id)
	if err != nil {
		return "", failed("keep a content", err)
	}
	if err = file.File.Close(); err == nil {
		err = u.into.Keep(ctx, who.TenantID, id, file.Name())
	}
	if err = errors.Join(err, file.gone()); err == nil {
		u.Brought(who.TenantID, int64(len(content)))
	}
	return id, err
}
