package storage

import (
	"archive/tar"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"ubl/durable"
)

// RestoreOptions are for Restore; nil means none of them.
type RestoreOptions struct {
	Progress Progress
	// Signed is told whose key signed the backup, nil where nobody's did, before
	// anything is unpacked. Its error refuses the backup.
	Signed func(ed25519.PublicKey) error
	// Blobs opens a folder at a path for the contents of files; nil refuses a backup that has any.
	Blobs func(path string) (KeepBlob, error)
}

// Restore makes a data directory from a backup. The directory must be new or
// empty (else [ErrNotEmpty]). A restore that fails leaves nothing there. The store appears in it whole or not at all: after
// an interruption Open refuses the directory until a restore succeeds. What was
// restored is a new incarnation.
func Restore(ctx context.Context, r io.Reader, dir string, opts *Options, how *RestoreOptions) error {
	if how == nil {
		how = &RestoreOptions{}
	}
	if err := restore(ctx, r, dir, opts.withDefaults(), how); err != nil {
		return fmt.Errorf("couldn't restore into %s: %w", dir, err)
	}
	return nil
}

func restore(ctx context.Context, r io.Reader, dir string, o *Options, how *RestoreOptions) (err error) {
	lock := filepath.Join(dir, lockName)
	var made []string
	for _, path := range []string{lock, dir} {
		if !exists(path) {
			made = append(made, path)
		}
	}
	if err := makeDir(dir); err != nil {
		return err
	}
	unlock, err := lockDir(dir, o.LockTimeout)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			for _, path := range made {
				err = errors.Join(err, removeIfThere(path))
			}
		}
		err = errors.Join(err, unlock())
	}()
	if err := checkEmpty(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, blobsDir)); err != nil { // of an interrupted one
		return err
	}
	err = stage(dir, restoringDir, func(staging string) error {
		if err := unpack(ctx, r, staging, o, how); err != nil {
			return err
		}
		return placeBlobs(dir, staging)
	})
	if err != nil {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, blobsDir)))
	}
	return err
}

// checkEmpty allows what an interrupted restore leaves, and the directory that
// a new file system has.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		switch entry.Name() {
		case lockName, restoringDir, creatingDir, "lost+found":
		case blobsDir:
			if !exists(filepath.Join(dir, restoringDir)) {
				return ErrNotEmpty
			}
		default:
			return ErrNotEmpty
		}
	}
	return nil
}

// unpack writes the archive's files, checks them and gives them their new
// incarnation.
func unpack(ctx context.Context, r io.Reader, staging string, o *Options, how *RestoreOptions) error {
	in := tar.NewReader(r)
	a, err := readArchive(in, how.Signed)
	if err != nil {
		return err
	}
	m, err := newManifest(len(a.Parts), o)
	if err != nil {
		return err
	}
	counted := &checkedWriter{ctx: ctx, progress: how.Progress, total: a.size()}
	for i, part := range a.Parts {
		path := filepath.Join(staging, part.Name)
		if err := unpackPart(in, part, path, counted); err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
		if err := relabel(path, a.label(i), m.label(i), o); err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
	}
	if a.Format >= blobsFormat {
		if err := unpackBlobs(ctx, in, staging, a.Parts, how); err != nil {
			return err
		}
	}
	if err := durable.Write(filepath.Join(staging, restoredName), nil); err != nil {
		return err
	}
	return writeManifest(staging, m)
}

// Restored reports whether the store was made by [Restore] and
// [Engine.ForgetRestore] wasn't called since: whoever opens it first tells of
// that, however often the process is killed before.
func (e *Engine) Restored() bool { return exists(filepath.Join(e.dir, storeDir, restoredName)) }

// ForgetRestore is for when that was told.
func (e *Engine) ForgetRestore() error {
	store := filepath.Join(e.dir, storeDir)
	if err := removeIfThere(filepath.Join(store, restoredName)); err != nil {
		return err
	}
	return durable.Sync(store)
}

func readArchive(in *tar.Reader, signed func(ed25519.PublicKey) error) (*archive, error) {
	header, err := in.Next()
	if errors.Is(err, ErrDamaged) { // which who reads it for us found
		return nil, err
	}
	if err != nil || header.Name != backupManifest || header.Size > maxManifestBytes {
		return nil, damaged("this is not a backup, or its beginning is damaged")
	}
	text, err := io.ReadAll(io.LimitReader(in, maxManifestBytes))
	if err != nil {
		return nil, cutShort(err)
	}
	signer, err := signerOf(header, text)
	if err == nil && signed != nil {
		err = signed(signer)
	}
	if err != nil {
		return nil, err
	}
	a := new(archive)
	if err := decodeVersioned(text, blobsFormat, a); err != nil {
		return nil, err
	}
	if a.StoreFormat > storeFormat {
		return nil, ErrNewerFormat
	}
	if len(a.Parts) < 1 || len(a.Parts) > maxPartitions {
		return nil, damaged("the number of partitions is impossible")
	}
	for i, part := range a.Parts {
		if part.Name != partitionName(i) {
			return nil, damaged("the parts are not the partitions in order")
		}
	}
	return a, nil
}

// cutShort is an archive that ends early, unless who reads it for us found more.
func cutShort(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return damaged("the backup is cut short")
}

func (a *archive) label(partition int) label {
	return label{a.StoreFormat, partition, len(a.Parts), a.Incarnation}
}

func unpackPart(in *tar.Reader, want part, path string, counted *checkedWriter) (err error) {
	header, err := in.Next()
	if err != nil {
		return cutShort(err)
	}
	if header.Name != want.Name || header.Size != want.Size {
		return damaged("the backup is not what its list says")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	counted.w = io.MultiWriter(f, hash)
	n, err := io.Copy(counted, in)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cutShort(err)
	case err != nil:
		return err
	case n != want.Size || hex.EncodeToString(hash.Sum(nil)) != want.SHA256:
		return damaged("the content does not match its hash")
	}
	return f.Sync()
}

// relabel checks a restored file and makes it part of the new directory.
func relabel(path string, was, is label, o *Options) error {
	if err := inspectFile(path, 1<<62); err != nil {
		return err
	}
	db, _, err := openBolt(path, o)
	if err != nil {
		return err
	}
	err = db.View(func(tx *bolt.Tx) error { return checkLabel(tx, was) })
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return claim(path, is, o)
}
