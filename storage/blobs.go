package storage

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	bolt "go.etcd.io/bbolt"

	"ubl"
	"ubl/durable"
)

// Blobs lie beside the store, which knows of each that its records refer to ([ubl.BlobRef]). So a
// backup has just these, behind the partitions: "blobs/TENANT/SHA256". They stand on no
// list of their own: the partitions are one, and each blob's name is its hash.

const (
	blobsDir    = "blobs" // in a data directory, and in an archive
	blobsFormat = 2       // of an archive that has blobs
)

// OpenBlob opens a tenant's blob.
type OpenBlob func(context.Context, ubl.TenantID, ubl.BlobID) (io.ReadSeekCloser, error)

// KeepBlob keeps what r holds as a tenant's blob, and refuses it where it is another.
type KeepBlob func(ctx context.Context, t ubl.TenantID, id ubl.BlobID, r io.Reader) error

// tenantBlob is a blob that a tenant refers to.
type tenantBlob struct {
	Tenant ubl.TenantID
	ID     ubl.BlobID
}

func (b tenantBlob) String() string { return fmt.Sprintf("%s/%s/%s", blobsDir, b.Tenant, b.ID) }

// BlobsOf calls fn with each blob that the records of a partition refer to, as this directory has
// it, until fn fails. Of a replica that may be a moment ago.
func (e *Engine) BlobsOf(ctx context.Context, partition int, fn func(ubl.TenantID, ubl.BlobID) error) error {
	p := e.partitions[partition]
	tx, err := p.beginRead()
	if err != nil {
		return err
	}
	list, err := referred(ctx, tx)
	if err = errors.Join(err, tx.Rollback()); err != nil {
		return p.tell(err)
	}
	for _, b := range list {
		if err := fn(b.Tenant, b.ID); err != nil {
			return err
		}
	}
	return nil
}

// refer tells of the blobs that a batch has records refer to.
func (p *partition) refer(b *ubl.Batch) {
	for _, r := range b.Records {
		if id, ok := ubl.ReferredBlob(r.Key); ok && r.Value != nil {
			p.opts.Referred(p.index, b.Group.Tenant, id)
		}
	}
}

// Refers reports whether a record of a tenant refers to a blob, as this directory has it.
func (e *Engine) Refers(t ubl.TenantID, id ubl.BlobID) (bool, error) {
	g := ubl.TenantName(t).Group()
	p := e.partitions[e.Partition(g)]
	tx, err := p.beginRead()
	if err != nil {
		return false, err
	}
	found, err := refers(tx, g, id)
	return found, p.tell(errors.Join(err, tx.Rollback()))
}

func refers(tx *bolt.Tx, g ubl.Group, id ubl.BlobID) (found bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer guard(&err)
	data := tx.Bucket(dataBucket)
	if data == nil {
		return false, damaged("a bucket is missing")
	}
	from, to := ubl.BlobRefs(id)
	prefix := appendPrefix(nil, g)
	k, _ := data.Cursor().Seek(append(bytes.Clone(prefix), from...))
	return k != nil && bytes.Compare(k, append(prefix, to...)) < 0, nil
}

// referred lists the blobs that a partition refers to, each once. It skips from group to group.
func referred(ctx context.Context, tx *bolt.Tx) (list []tenantBlob, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer guard(&err)
	data := tx.Bucket(dataBucket)
	if data == nil {
		return nil, damaged("a bucket is missing")
	}
	c := data.Cursor()
	for k, _ := c.First(); k != nil; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g, err := groupOf(k)
		if err != nil {
			return nil, err
		}
		prefix := appendPrefix(nil, g)
		from, to := ubl.AllBlobRefs()
		for k, _ = c.Seek(append(bytes.Clone(prefix), from...)); k != nil && bytes.Compare(k, append(bytes.Clone(prefix), to...)) < 0; k, _ = c.Next() {
			id, ok := ubl.ReferredBlob(k[len(prefix):])
			if b := (tenantBlob{g.Tenant, id}); ok && (len(list) == 0 || list[len(list)-1] != b) {
				list = append(list, b)
			}
		}
		prefix[len(prefix)-1] = keyEnd + 1
		k, _ = c.Seek(prefix)
	}
	return list, nil
}

// referredIn lists those of a partition's file that nobody writes.
func referredIn(ctx context.Context, path string) (list []tenantBlob, err error) {
	db, err := bolt.Open(path, fileMode, &bolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	err = db.View(func(tx *bolt.Tx) (err error) {
		list, err = referred(ctx, tx)
		return err
	})
	return list, errors.Join(err, db.Close())
}

// writeBlobs puts the blobs that the copied partitions refer to into an archive.
func writeBlobs(out *tar.Writer, counted *checkedWriter, a *archive, list []tenantBlob, open OpenBlob) error {
	for _, b := range list {
		if err := writeBlob(out, counted, a, b, open); err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
	}
	return nil
}

func writeBlob(out *tar.Writer, counted *checkedWriter, a *archive, b tenantBlob, open OpenBlob) error {
	r, err := open(counted.ctx, b.Tenant, b.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	size, err := r.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = r.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = out.WriteHeader(headerOf(b.String(), size, a))
	}
	if err == nil {
		counted.total += size
		_, err = io.Copy(counted, struct{ io.Reader }{r})
	}
	return err
}

// unpackBlobs puts an archive's blobs into a directory: all that the restored partitions refer to.
func unpackBlobs(ctx context.Context, in *tar.Reader, staging string, parts []part, how *RestoreOptions) error {
	missing := map[tenantBlob]bool{}
	for _, part := range parts {
		list, err := referredIn(ctx, filepath.Join(staging, part.Name))
		if err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
		for _, b := range list {
			missing[b] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if how.Blobs == nil {
		return errors.New("the backup has contents of files, and there is no place for them")
	}
	keep, err := how.Blobs(filepath.Join(staging, blobsDir))
	if err != nil {
		return err
	}
	for len(missing) > 0 {
		header, err := in.Next()
		if err != nil {
			return cutShort(err)
		}
		b, ok := blobNamed(header.Name)
		if !ok || !missing[b] {
			return damaged("the backup is not what its partitions say")
		}
		if err := keep(ctx, b.Tenant, b.ID, &wholeReader{ctx, in}); err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
		delete(missing, b)
	}
	return nil
}

// blobNamed reads the name of a blob in an archive.
func blobNamed(name string) (b tenantBlob, ok bool) {
	dir, rest, _ := strings.Cut(name, "/")
	tenant, id, _ := strings.Cut(rest, "/")
	b = tenantBlob{ubl.TenantID(tenant), ubl.BlobID(id)}
	return b, dir == blobsDir && b.Tenant.Valid() && b.ID.Valid()
}

// wholeReader stops when the context ends, and tells an archive that is cut short.
type wholeReader struct {
	ctx context.Context
	r   io.Reader
}

func (w *wholeReader) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = cutShort(err)
	}
	return n, err
}

// placeBlobs moves restored blobs beside the store, before the store is there. What an
// interrupted restore had moved was removed.
func placeBlobs(dir, staging string) error {
	from := filepath.Join(staging, blobsDir)
	if !exists(from) {
		return nil
	}
	if err := durable.Sync(from); err != nil {
		return err
	}
	if err := os.Rename(from, filepath.Join(dir, blobsDir)); err != nil {
		return err
	}
	return durable.Sync(dir)
}
