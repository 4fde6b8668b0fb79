package blobs

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"syscall"

	"ubl"
)

// Checked reads a blob of so many bytes. What is read from the beginning to the end in order is
// hashed on the way: where it isn't the blob, the last read fails instead of ending. One that is
// empty, and shouldn't be, fails at once. Its owner closes it, and so r.
func Checked(r io.ReadSeekCloser, id ubl.BlobID, size int64) (io.ReadSeekCloser, error) {
	c := &checked{r: r, id: id, size: size, hash: sha256.New()}
	if size == 0 && !c.whole() {
		return nil, ubl.Damaged("a blob is empty, and wasn't")
	}
	return c, nil
}

type checked struct {
	r    io.ReadSeekCloser
	id   ubl.BlobID
	size int64
	at   int64
	hash hash.Hash
	upTo int64 // what the hash has: all before it
}

// Read implements [io.Reader].
func (c *checked) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.at == c.upTo {
		c.hash.Write(b[:n])
		c.upTo += int64(n)
	}
	c.at += int64(n)
	switch {
	case n > 0 && c.upTo >= c.size && c.at >= c.size && !c.whole():
		return 0, ubl.Damaged("a blob isn't what it was")
	case err == io.EOF && c.at < c.size:
		return 0, ubl.Damaged("a blob is cut short")
	case errors.Is(err, syscall.EIO):
		return 0, ubl.Damaged("the disk can't read a blob any more")
	}
	return n, err
}

// whole reports whether all that was read is the blob.
func (c *checked) whole() bool { return ubl.BlobIDOf([sha256.Size]byte(c.hash.Sum(nil))) == c.id }

// Seek implements [io.Seeker].
func (c *checked) Seek(offset int64, whence int) (int64, error) {
	at, err := c.r.Seek(offset, whence)
	if err != nil {
		return at, err
	}
	c.at = at
	if at == 0 {
		c.hash.Reset()
		c.upTo = 0
	}
	return at, nil
}

// Close implements [io.Closer].
func (c *checked) Close() error { return c.r.Close() }

// copyChecked writes what r holds into a file, durably, and fails where it isn't the blob.
func copyChecked(file *os.File, r io.Reader, id ubl.BlobID) error {
	h := sha256.New()
	if _, err := io.CopyBuffer(io.MultiWriter(file, h), struct{ io.Reader }{r}, make([]byte, bufferSize)); err != nil {
		return err
	}
	if ubl.BlobIDOf([sha256.Size]byte(h.Sum(nil))) != id {
		return ubl.Damaged("what came in isn't the blob that it should be")
	}
	return file.Sync()
}
