package migrate

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Limits are how much of an archive is read. Zero values are the usual ones.
type Limits struct {
	Files int   // files and folders in it: 2,000,000
	JSON  int64 // bytes of one JSON file, unpacked: 512 MiB
	Lines int64 // bytes of a file of many lines, unpacked: 64 GiB
	Line  int64 // bytes of one line or one value in such a file: 16 MiB
	File  int64 // bytes of an attached file, unpacked: 8 GiB
}

func (l Limits) orUsual() Limits {
	set := func(n *int64, usual int64) {
		if *n == 0 {
			*n = usual
		}
	}
	if l.Files == 0 {
		l.Files = 2_000_000
	}
	set(&l.JSON, 512<<20)
	set(&l.Lines, 64<<30)
	set(&l.Line, 16<<20)
	set(&l.File, 8<<30)
	return l
}

// ErrTooLarge is of what is longer, unpacked, than is read of an archive.
var ErrTooLarge = errors.New("it is larger than an import reads")

// archive is a folder or a zip file of an export. Its names were checked.
type archive struct {
	fs     fs.FS
	names  []string // of files, sorted, without the folder that all are in
	sorted map[string]bool
	order  []string // the same as the archive has them
	base   string   // that folder
	limits Limits
	close  func()
}

// openArchive looks at every name in it.
func openArchive(name string, limits Limits) (*archive, error) {
	a := &archive{limits: limits.orUsual(), sorted: map[string]bool{}, close: func() {}}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		err = a.folder(name)
	case strings.EqualFold(path.Ext(name), ".zip"):
		err = a.zip(name)
	default:
		err = a.single(name)
	}
	if err == nil {
		err = a.check()
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// folder opens a folder that nothing leads out of, links neither.
func (a *archive) folder(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	a.fs, a.close = root.FS(), func() { _ = root.Close() }
	return fs.WalkDir(a.fs, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			a.order = append(a.order, p)
		}
		if len(a.order) > a.limits.Files {
			return fmt.Errorf("%w: more than %d files", ErrTooLarge, a.limits.Files)
		}
		return err
	})
}

func (a *archive) zip(name string) error {
	z, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	a.close = func() { _ = z.Close() }
	files := make(zipped, len(z.File))
	a.fs = files
	if len(z.File) > a.limits.Files {
		return fmt.Errorf("%w: more than %d files", ErrTooLarge, a.limits.Files)
	}
	for _, f := range z.File {
		p := strings.TrimSuffix(f.Name, "/")
		switch {
		case !fs.ValidPath(p) || strings.ContainsAny(p, "\\\x00"):
			return errors.New("the zip file has a name that leads out of it, or that isn't one")
		case f.FileInfo().IsDir():
			continue
		case !f.Mode().IsRegular():
			return errors.New("the zip file has a link or a device")
		case files[p] != nil:
			return errors.New("the zip file has two files of one name")
		}
		files[p] = f
		a.order = append(a.order, p)
	}
	return nil
}

// zipped opens the files of a zip file by their whole names, in one step each.
type zipped map[string]*zip.File

// Open implements [fs.FS].
func (z zipped) Open(name string) (fs.File, error) {
	f := z[name]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	return unzipping{r, f.FileInfo()}, nil
}

type unzipping struct {
	io.ReadCloser
	info fs.FileInfo
}

// Stat implements [fs.File].
func (u unzipping) Stat() (fs.FileInfo, error) { return u.info, nil }

// single has one file alone.
func (a *archive) single(name string) error {
	root, err := os.OpenRoot(path.Dir(name))
	if err != nil {
		return err
	}
	a.fs, a.close, a.order = root.FS(), func() { _ = root.Close() }, []string{path.Base(name)}
	return nil
}

// check finds the folder that all is in, as programs make it that zip a folder.
func (a *archive) check() error {
	a.names = slices.DeleteFunc(slices.Clone(a.order), func(p string) bool {
		return strings.HasPrefix(p, "__MACOSX/") || path.Base(p) == ".DS_Store"
	})
	if len(a.names) == 0 {
		return errors.New("there is no file in it")
	}
	if top, _, in := strings.Cut(a.names[0], "/"); in && !slices.ContainsFunc(a.names, func(p string) bool { return !strings.HasPrefix(p, top+"/") }) {
		a.base = top + "/"
	}
	for i, p := range a.names {
		a.names[i] = strings.TrimPrefix(p, a.base)
	}
	a.order = slices.Clone(a.names)
	slices.Sort(a.names)
	for _, p := range a.names {
		a.sorted[p] = true
	}
	return nil
}

func (a *archive) has(name string) bool { return a.sorted[name] }

// in are the files in a folder, sorted.
func (a *archive) in(folder string) []string {
	from, _ := slices.BinarySearch(a.names, folder+"/")
	to := from
	for to < len(a.names) && strings.HasPrefix(a.names[to], folder+"/") {
		to++
	}
	return a.names[from:to]
}

// open opens a file, of which no more than most bytes are read.
func (a *archive) open(name string, most int64) (io.ReadCloser, error) {
	f, err := a.fs.Open(a.base + name)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{&bounded{f, most}, f}, nil
}

// bounded reads left bytes, and then fails.
type bounded struct {
	io.Reader
	left int64
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n, ErrTooLarge
	}
	return n, err
}

// json reads a JSON file.
func (a *archive) json(name string, into any) error {
	f, err := a.open(name, a.limits.JSON)
	if err != nil {
		return err
	}
	defer f.Close()
	return named(name, json.NewDecoder(bufio.NewReaderSize(f, 64<<10)).Decode(into))
}

// named says which file is of another form.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q can't be read: %w", name, err)
}

// File opens a file that a message carries. Close it. Reading more than [Limits.File] fails.
func (e *Export) File(f File) (io.ReadCloser, error) {
	return e.archive.open(f.Path, e.archive.limits.File)
}
