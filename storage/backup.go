package storage

import (
	"archive/tar"
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ubl"
)

// A backup is a tar archive: backup.json first, then the partitions' files in
// the order it lists them, and behind these the blobs that they refer to (blobs.go). Later versions may add fields to backup.json. How it
// is signed stands in signature.go.
const (
	backupFormat     = 1
	backupManifest   = "backup.json"
	maxManifestBytes = mib
)

// archive is backup.json.
type archive struct {
	Format      int      `json:"format"`       // of the archive
	StoreFormat int      `json:"store_format"` // of the files in it
	Incarnation string   `json:"incarnation"`  // of the directory it was taken from
	Created     ubl.Time `json:"created"`
	Parts       []part   `json:"parts"`
}

type part struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func (a *archive) size() int64 {
	var n int64
	for _, p := range a.Parts {
		n += p.Size
	}
	return n
}

// Progress is told how many bytes of how many have been moved. Nil is allowed.
type Progress func(done, total int64)

// BackupOptions are for Backup; nil means none of them.
type BackupOptions struct {
	Progress Progress
	// Signer signs the archive with an Ed25519 key; nil leaves it unsigned.
	Signer crypto.Signer
	// Blob opens what records refer to; nil where there are no blobs.
	Blob OpenBlob
}

// Backup writes an archive of the whole store while it goes on working. Every
// partition is copied at one moment of its own: each group is whole, two groups
// may be some seconds apart. The copies lie in the data directory until the
// archive is written, so that a slow w keeps no transaction open; they need as
// much space as the data. Each copy is checked: a backup of damaged data fails.
func (e *Engine) Backup(ctx context.Context, w io.Writer, o *BackupOptions) error {
	return e.BackupFrom(ctx, w, func(ctx context.Context, partition int, path string) (bool, error) {
		return true, e.CopyPartition(ctx, partition, path)
	}, o)
}

// BackupFrom is Backup of partitions that live elsewhere, too: fetch puts a copy
// of one, as CopyPartition makes it, at a path.
func (e *Engine) BackupFrom(ctx context.Context, w io.Writer, fetch Fetch, o *BackupOptions) error {
	if o == nil {
		o = &BackupOptions{}
	}
	dir, err := e.TempDir()
	if err != nil {
		return err
	}
	err = e.backup(ctx, w, dir, fetch, o)
	return errors.Join(err, os.RemoveAll(dir))
}

// Fetch puts a copy of a partition at a path. It says whether it is a copy of what this
// directory has: damage in another's is not counted here.
type Fetch func(ctx context.Context, partition int, path string) (here bool, err error)

func (e *Engine) backup(ctx context.Context, w io.Writer, dir string, fetch Fetch, o *BackupOptions) error {
	a := &archive{
		Format: backupFormat, StoreFormat: storeFormat,
		Incarnation: e.manifest.Incarnation, Created: ubl.TimeOf(e.opts.Now()),
	}
	var blobs []tenantBlob
	for i, p := range e.partitions {
		path := filepath.Join(dir, partitionName(i))
		here, err := fetch(ctx, i, path)
		if err == nil {
			err = p.own(ctx, path)
		}
		if err != nil {
			if here {
				_ = p.tell(err)
			}
			return fmt.Errorf("%s: %w", partitionName(i), err)
		}
		e.opts.Step("backup: fetched")
		part, err := partOf(path)
		if err != nil {
			return fmt.Errorf("%s: %w", partitionName(i), err)
		}
		a.Parts = append(a.Parts, part)
		list, err := referredIn(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", partitionName(i), err)
		}
		blobs = append(blobs, list...)
	}
	if len(blobs) > 0 {
		a.Format = blobsFormat
		if o.Blob == nil {
			return errors.New("records refer to contents of files, and there is no place to read those")
		}
	}
	return writeArchive(ctx, w, dir, a, blobs, o)
}

// own checks a copy and makes it one of this directory, without what only a
// replica has.
func (p *partition) own(ctx context.Context, path string) error {
	if err := p.checkCopy(ctx, path); err != nil {
		return err
	}
	return claim(path, p.label, p.opts)
}

// partOf is a file's line in the archive's list.
func partOf(path string) (part, error) {
	f, err := os.Open(path)
	if err != nil {
		return part{}, err
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	return part{Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// CopyPartition copies a partition as it is now into a new file.
func (e *Engine) CopyPartition(ctx context.Context, partition int, path string) (err error) {
	p := e.partitions[partition]
	tx, err := p.beginRead()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := p.waitDurable(ctx, uint64(tx.ID())); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = tx.WriteTo(&checkedWriter{ctx: ctx, w: f})
	return err
}

// TempDir makes a directory for copies in the data directory; the next Open
// throws it away if its maker doesn't.
func (e *Engine) TempDir() (string, error) { return os.MkdirTemp(e.dir, backupDir) }

func writeArchive(ctx context.Context, w io.Writer, dir string, a *archive, blobs []tenantBlob, o *BackupOptions) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	header := headerOf(backupManifest, int64(len(text)), a)
	if err := sign(header, text, o.Signer); err != nil {
		return err
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	counted := &checkedWriter{ctx: ctx, w: out, progress: o.Progress, total: a.size()}
	for _, part := range a.Parts {
		if err := out.WriteHeader(headerOf(part.Name, part.Size, a)); err != nil {
			return err
		}
		if err := copyFile(counted, filepath.Join(dir, part.Name)); err != nil {
			return err
		}
	}
	if err := writeBlobs(out, counted, a, blobs, o.Blob); err != nil {
		return err
	}
	return out.Close()
}

func headerOf(name string, size int64, a *archive) *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: fileMode,
		ModTime: a.Created.Std(), Format: tar.FormatPAX,
	}
}

func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// checkedWriter stops when the context ends, and tells how far it is.
type checkedWriter struct {
	ctx         context.Context
	w           io.Writer
	progress    Progress
	done, total int64
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.w.Write(b)
	c.done += int64(n)
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
	return n, err
}
