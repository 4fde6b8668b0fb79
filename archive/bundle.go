package archive

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"
	"unicode"

	"ubl"
)

// Manifest says what is in an archive. It is the last file of the zip, so that one that has it is whole.
type Manifest struct {
	Format    string       `json:"format"`
	Version   string       `json:"program_version,omitempty"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	UserID    ubl.UserID   `json:"user_id"`
	CreatedAt ubl.Time     `json:"created_at"`
	// Receipt belongs to the act user.export.
	Receipt ubl.Receipt `json:"receipt"`
	Counts  Counts      `json:"counts"`
	// Files are all others of the zip, in their order.
	Files []File `json:"files"`
	// LeftOut is what the person may not read, or what couldn't be read, with the reason.
	LeftOut []LeftOut `json:"left_out"`
}

// Counts are how many there are of what is in an archive.
type Counts struct {
	Rooms int64 `json:"rooms"`
	// Entries are all of the rooms' entries, Messages those of them that are the person's own messages.
	Entries   int64 `json:"entries"`
	Messages  int64 `json:"messages"`
	Documents int64 `json:"documents"`
	Uploads   int64 `json:"uploads"` // files that the person brought
	// Acts are the actions of the person in the ledger.
	Acts int64 `json:"acts"`
}

// File is a file of an archive. SHA256 is of its content, in hex.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// LeftOut is something that isn't in an archive.
type LeftOut struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// manifestPath is where the manifest is.
const manifestPath = "manifest.json"

// bundle is a zip file that is being written, one file of it at a time.
type bundle struct {
	zip   *zip.Writer
	at    time.Time
	taken map[string]bool // paths as file systems see them that don't tell A from a
	files []File
	// deflate and buf serve one file after another.
	deflate *flate.Writer
	buf     *bufio.Writer

	// Of the file that is open:
	path  string
	hash  hash.Hash
	bytes int64
}

func newBundle(w io.Writer, at time.Time) *bundle {
	b := &bundle{zip: zip.NewWriter(w), at: at, taken: map[string]bool{manifestPath: true}, buf: bufio.NewWriterSize(nil, 64<<10)}
	b.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		if b.deflate == nil {
			var err error
			b.deflate, err = flate.NewWriter(w, flate.BestSpeed)
			return b.deflate, err
		}
		b.deflate.Reset(w)
		return b.deflate, nil
	})
	return b
}

// create begins a file. A path that is taken gets a number.
func (b *bundle) create(path string) error {
	wanted := path
	for n := 2; b.taken[strings.ToLower(path)]; n++ {
		path = fmt.Sprintf("%s-%d", wanted, n)
	}
	// Without compression some programs can't tell where a file ends whose length wasn't known before it.
	h := &zip.FileHeader{Name: path, Method: zip.Deflate, Modified: b.at}
	h.SetMode(0o600)
	w, err := b.zip.CreateHeader(h)
	if err != nil {
		return err
	}
	b.taken[strings.ToLower(path)] = true
	b.path, b.hash, b.bytes = path, sha256.New(), 0
	b.buf.Reset(io.MultiWriter(w, b.hash))
	return nil
}

// Write writes into the file that is open.
func (b *bundle) Write(p []byte) (int, error) {
	n, err := b.buf.Write(p)
	b.bytes += int64(n)
	return n, err
}

// close ends the file that is open.
func (b *bundle) close() error {
	if err := b.buf.Flush(); err != nil {
		return err
	}
	b.files = append(b.files, File{Path: b.path, Bytes: b.bytes, SHA256: hex.EncodeToString(b.hash.Sum(nil))})
	return nil
}

// line writes a value as a line of JSON.
func (b *bundle) line(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = b.Write(append(data, '\n'))
	return err
}

// file writes a whole file by a function.
func (b *bundle) file(path string, write func() error) error {
	if err := b.create(path); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	return b.close()
}

// object writes a file of one value.
func (b *bundle) object(path string, v any) error {
	return b.file(path, func() error { return b.indented(v) })
}

func (b *bundle) indented(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = b.Write(append(data, '\n'))
	return err
}

// finish writes the manifest and the zip's directory.
func (b *bundle) finish(m *Manifest) error {
	m.Files = append(m.Files, b.files...)
	delete(b.taken, manifestPath)
	if err := b.object(manifestPath, m); err != nil {
		return err
	}
	return b.zip.Close()
}

// maxName bounds a part of a path, in bytes.
const maxName = 100

// safeName is what a name of somebody's becomes as a part of a path: letters, digits, dots, dashes
// and underscores of it, nothing hidden, no path, and short enough for every file system. It is ""
// where nothing is left. Numbers before it keep names of devices (CON, NUL) out.
func safeName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_', r == '.':
		case unicode.IsSpace(r):
			r = '-'
		default:
			r = '_'
		}
		if s := b.String(); strings.HasSuffix(s, string(r)) && (r == '_' || r == '-' || r == '.') {
			continue // ".." and long rows of what was replaced
		}
		b.WriteRune(r)
	}
	return shorten(strings.Trim(b.String(), "._-"))
}

// shorten keeps the beginning of a name, and what its type is told by.
func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	end := ""
	if dot := strings.LastIndexByte(name, '.'); dot > 0 && len(name)-dot <= 12 {
		end = name[dot:]
	}
	cut := maxName - len(end)
	for cut > 0 && name[cut]&0xc0 == 0x80 { // not within a letter
		cut--
	}
	return strings.TrimRight(name[:cut], "._-") + end
}

// numbered is a name behind a number that tells it from others of its folder.
func numbered(n int, name string) string {
	if name = safeName(name); name == "" {
		return fmt.Sprintf("%04d", n)
	}
	return fmt.Sprintf("%04d-%s", n, name)
}
