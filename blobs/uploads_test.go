package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/blobs"
	"ubl/limits"
)

// TestUploadsAreResumed: over random histories of parts, broken connections, parts at wrong
// places and killed processes, the offset that a sender is told leads to the content, and
// nothing is left when all is over.
func TestUploadsAreResumed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		w := open(t, dir)
		want := content(rapid.IntRange(0, 20_000).Draw(rt, "bytes"))
		id, at := w.begin(t, len(want)), int64(0)
		look := func() {
			up, err := w.uploads.Look(context.Background(), ana, id)
			if err != nil || up.Offset < at || up.Offset > int64(len(want)) {
				rt.Fatalf("the upload is %+v, %v; it was at %d", up, err, at)
			}
			at = up.Offset
		}
		rt.Repeat(map[string]func(*rapid.T){
			"bring": func(rt *rapid.T) {
				n := min(rapid.IntRange(0, 8000).Draw(rt, "part"), len(want)-int(at))
				broken := rapid.SampledFrom([]error{nil, errCut}).Draw(rt, "broken")
				up, err := w.bring(id, at, want[at:int(at)+n], broken)
				if up == nil || up.Offset != at+int64(n) || (err != nil) != (broken != nil) {
					rt.Fatalf("%d bytes at %d: %+v, %v", n, at, up, err)
				}
				at = up.Offset
			},
			"elsewhere": func(rt *rapid.T) {
				wrong := at + rapid.SampledFrom([]int64{-1, 1, 100}).Draw(rt, "by")
				up, err := w.bring(id, wrong, []byte("x"), nil)
				if ubl.CodeOf(err) != ubl.CodeConflict || up.Offset != at {
					rt.Fatalf("bytes at %d instead of %d: %+v, %v", wrong, at, up, err)
				}
			},
			"too much": func(rt *rapid.T) {
				_, err := w.bring(id, at, append(bytes.Clone(want[at:]), 1), nil)
				if ubl.CodeOf(err) != ubl.CodeTooLarge {
					rt.Fatalf("a byte too much: %v", err)
				}
			},
			"early": func(rt *rapid.T) {
				if at == int64(len(want)) {
					return
				}
				if _, err := w.uploads.Finish(context.Background(), ana, id); ubl.CodeOf(err) != ubl.CodeConflict {
					rt.Fatalf("finished at %d of %d: %v", at, len(want), err)
				}
			},
			"start": func(*rapid.T) { w.start(t) },
			"":      func(*rapid.T) { look() },
		})
		if up, err := w.bring(id, at, want[at:], nil); err != nil || up.Offset != int64(len(want)) {
			rt.Fatalf("the rest: %+v, %v", up, err)
		}
		for range 2 {
			up, err := w.uploads.Finish(context.Background(), ana, id)
			if err != nil || up.SHA256 != idOf(want) {
				rt.Fatalf("finished as %+v, %v", up, err)
			}
			w.start(t)
		}
		if have, err := w.read(idOf(want)); err != nil || !bytes.Equal(have, want) {
			rt.Fatalf("read %d bytes, %v", len(have), err)
		}
		w.now = w.now.Add(blobs.Patience)
		if _, err := w.uploads.Sweep(context.Background()); err != nil || len(w.files(t)) != 1 {
			rt.Fatalf("after all there is %v, %v", w.files(t), err)
		}
	})
}

// TestCrashPoints: wherever a process is killed in an upload, the next one goes on with it, and
// has at least what its sender was told.
func TestCrashPoints(t *testing.T) {
	w := open(t, t.TempDir())
	want := content(10_000)
	var id ubl.UploadID
	told := int64(0)
	type state struct {
		step, dir string
		told      int64
	}
	var states []state
	w.step = func(name string) {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
			t.Fatal(err)
		}
		states = append(states, state{name, dir, told})
	}
	id = w.begin(t, len(want))
	for _, part := range []int{4000, 0, 5000, 1000} {
		up, err := w.bring(id, told, want[told:told+int64(part)], nil)
		if err != nil {
			t.Fatal(err)
		}
		told = up.Offset
	}
	if _, err := w.uploads.Finish(t.Context(), ana, id); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range states {
		seen[s.step] = true
		again := open(t, s.dir)
		up, err := again.uploads.Look(t.Context(), ana, id)
		if ubl.CodeOf(err) == ubl.CodeNotFound && s.step == "blobs: a directory for the upload" {
			if files := again.files(t); len(files) != 0 {
				t.Errorf("%s: %v is left", s.step, files)
			}
			continue
		}
		if err != nil || up.Offset < s.told {
			t.Errorf("%s: the upload is %+v, %v; its sender was told %d", s.step, up, err, s.told)
			continue
		}
		if _, err := again.bring(id, up.Offset, want[up.Offset:], nil); err != nil {
			t.Errorf("%s: the rest: %v", s.step, err)
		}
		up, err = again.uploads.Finish(t.Context(), ana, id)
		if err != nil || up.SHA256 != idOf(want) {
			t.Errorf("%s: finished as %+v, %v", s.step, up, err)
		}
		if have, err := again.read(idOf(want)); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s: read %d bytes, %v", s.step, len(have), err)
		}
	}
	if len(seen) < 7 {
		t.Errorf("only these steps were tried: %v", seen)
	}
}

// TestKilledUploadLeavesNothing: what nobody goes on with is gone after a day, and so is its
// reservation.
func TestKilledUploadLeavesNothing(t *testing.T) {
	w := open(t, t.TempDir())
	id := w.begin(t, 9000)
	if _, err := w.bring(id, 0, content(5000), errCut); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("cut off: %v", err)
	}
	w.start(t)
	if n := w.uploads.Staged(ana.TenantID); n != 9000 {
		t.Errorf("%d bytes are reserved", n)
	}
	w.now = w.now.Add(blobs.Patience - time.Second)
	if n, err := w.uploads.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("too early %d end, %v", n, err)
	}
	w.now = w.now.Add(time.Second)
	if _, err := w.uploads.Look(t.Context(), ana, id); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("it is still there: %v", err)
	}
	if n, err := w.uploads.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("%d end, %v", n, err)
	}
	if files := w.files(t); len(files) != 0 || w.uploads.Staged(ana.TenantID) != 0 {
		t.Errorf("left: %v, %d bytes", files, w.uploads.Staged(ana.TenantID))
	}
}

// TestOthersUploads are like those that never were.
func TestOthersUploads(t *testing.T) {
	w := open(t, t.TempDir())
	id := w.begin(t, 3)
	for _, who := range []ubl.Identity{bob, eve} {
		_, look := w.uploads.Look(t.Context(), who, id)
		_, bring := w.uploads.Append(t.Context(), who, id, 0, ubl.Source{Reader: strings.NewReader("abc")})
		_, finish := w.uploads.Finish(t.Context(), who, id)
		for what, err := range map[string]error{"look": look, "bring": bring, "finish": finish, "end": w.uploads.End(t.Context(), who, id)} {
			if ubl.CodeOf(err) != ubl.CodeNotFound {
				t.Errorf("%s of %s: %v", what, who.UserID, err)
			}
		}
	}
	if err := w.uploads.End(t.Context(), ana, id); err != nil || len(w.files(t)) != 0 {
		t.Errorf("ended: %v, %v is left", err, w.files(t))
	}
}

// TestWrongHash: a content that isn't what its sender announced is no blob, and nothing of it stays.
func TestWrongHash(t *testing.T) {
	w := open(t, t.TempDir())
	up, err := w.uploads.Begin(t.Context(), ana, ubl.Upload{WorkspaceID: "w:general", Name: "x", Bytes: 4, SHA256: idOf([]byte("this"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.bring(up.UploadID, 0, []byte("that"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.uploads.Finish(t.Context(), ana, up.UploadID); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("finished: %v", err)
	}
	if files := w.files(t); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}

// TestTooManyUploads: nobody fills a node with uploads.
func TestTooManyUploads(t *testing.T) {
	w := open(t, t.TempDir())
	w.quota = limits.Default().Within
	w.start(t)
	var last error
	n := 0
	for ; n < 200 && last == nil; n++ {
		_, last = w.uploads.Begin(t.Context(), ana, ubl.Upload{WorkspaceID: "w:general", Name: "x"})
	}
	if ubl.CodeOf(last) != ubl.CodeRateLimited || n != 101 {
		t.Errorf("the %dth: %v", n, last)
	}
	if _, err := w.uploads.Begin(t.Context(), bob, ubl.Upload{WorkspaceID: "w:general", Name: "x"}); err != nil {
		t.Errorf("another person's: %v", err)
	}
}

// stuck is a connection of which nobody knows that it is dead.
type stuck struct{ cut chan struct{} }

func (s stuck) Read([]byte) (int, error) {
	<-s.cut
	return 0, errCut
}

// TestNewerRequestWins: who asks again interrupts their own dead connection, and goes on behind
// what that has brought.
func TestNewerRequestWins(t *testing.T) {
	w := open(t, t.TempDir())
	want := content(5000)
	id := w.begin(t, len(want))
	dead := stuck{make(chan struct{})}
	interrupt := func() {
		select {
		case <-dead.cut:
		default:
			close(dead.cut)
		}
	}
	ended := make(chan error, 1)
	reading := make(chan struct{})
	first := io.MultiReader(bytes.NewReader(want[:2000]), signal{reading}, dead)
	go func() {
		_, err := w.uploads.Append(context.Background(), ana, id, 0, ubl.Source{Reader: first, Interrupt: interrupt})
		ended <- err
	}()
	<-reading
	up, err := w.uploads.Look(t.Context(), ana, id)
	if err != nil || up.Offset != 2000 {
		t.Fatalf("the upload is %+v, %v", up, err)
	}
	if err := <-ended; ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("the dead connection ends with %v", err)
	}
	if up, err := w.bring(id, 2000, want[2000:], nil); err != nil || up.Offset != 5000 {
		t.Errorf("the rest: %+v, %v", up, err)
	}
}

// signal tells when it is read, and is empty.
type signal struct{ read chan struct{} }

func (s signal) Read([]byte) (int, error) {
	close(s.read)
	return 0, io.EOF
}

// TestStrangeFiles: what isn't an upload does no harm to a start.
func TestStrangeFiles(t *testing.T) {
	w := open(t, t.TempDir())
	id := w.begin(t, 4)
	dir := filepath.Join(w.dir, "uploads")
	for name, text := range map[string]string{"put-123": "half a blob", "notes.txt": "hello"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoiled := filepath.Join(dir, "up_"+strings.Repeat("0", 40))
	if err := os.Mkdir(spoiled, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spoiled, "upload"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start(t)
	if _, err := w.uploads.Look(t.Context(), ana, id); err != nil {
		t.Errorf("the upload: %v", err)
	}
	if _, err := os.Stat(spoiled); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spoiled one: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "put-123")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a blob: %v", err)
	}
}
