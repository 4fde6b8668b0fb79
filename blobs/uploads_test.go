package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
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
	if n := w.uploads.Staged(ana); n != 9000 {
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
	if files := w.files(t); len(files) != 0 || w.uploads.Staged(ana) != 0 {
		t.Errorf("left: %v, %d bytes", files, w.uploads.Staged(ana))
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

// small lets a tenant store so many bytes.
func small(bytes int) ubl.Quota {
	return func(limit string, have int) error {
		if limit == ubl.QuotaBytes && have >= bytes {
			return ubl.Errorf(ubl.CodeQuotaExceeded, "too much")
		}
		return nil
	}
}

// whole brings a content in and keeps it, for nobody's file.
func (w *world) whole(who ubl.Identity, n int) error {
	up, err := w.uploads.Begin(context.Background(), who, ubl.Upload{WorkspaceID: "w:general", Name: "x", Bytes: int64(n)})
	if err == nil {
		_, err = w.uploads.Append(context.Background(), who, up.UploadID, 0, ubl.Source{Reader: bytes.NewReader(content(n))})
	}
	if err == nil {
		_, err = w.uploads.Finish(context.Background(), who, up.UploadID)
	}
	return err
}

// TestNobodyFillsADisk: contents that never become files, or whose files are removed at once, stay
// for days. So what a tenant brings in within these is bounded, whoever brings it and across a start.
func TestNobodyFillsADisk(t *testing.T) {
	w := open(t, t.TempDir())
	w.quota = small(100)
	w.start(t)
	for range 4 {
		if err := w.whole(ana, 50); err != nil {
			t.Fatal(err)
		}
	}
	full := func(when string) {
		t.Helper()
		for _, who := range []ubl.Identity{ana, bob} {
			if err := w.whole(who, 50); ubl.CodeOf(err) != ubl.CodeQuotaExceeded {
				t.Errorf("%s %s brings more: %v", when, who.UserID, err)
			}
		}
		if _, err := w.uploads.Put(t.Context(), ana, content(50)); ubl.CodeOf(err) != ubl.CodeQuotaExceeded {
			t.Errorf("%s a short content comes in: %v", when, err)
		}
	}
	full("at once")
	if err := w.whole(eve, 50); err != nil {
		t.Errorf("another tenant's: %v", err)
	}
	w.start(t)
	full("after a start")
	w.now = w.now.Add(blobs.Grace)
	if err := w.whole(ana, 50); err != nil {
		t.Errorf("when the first may be gone: %v", err)
	}
}

// TestManyBringAtOnce: each may begin what the tenant has room for, and all together can't bring
// more than twice that.
func TestManyBringAtOnce(t *testing.T) {
	w := open(t, t.TempDir())
	w.quota, w.every = small(9000), 1000
	w.start(t)
	var came int64
	refused := 0
	ups := map[ubl.UserID]ubl.UploadID{}
	of := func(u ubl.UserID) ubl.Identity { return ubl.Identity{TenantID: ana.TenantID, UserID: u} }
	for i := range 4 {
		who := of(ubl.UserID("u:" + strconv.Itoa(i)))
		up, err := w.uploads.Begin(t.Context(), who, ubl.Upload{WorkspaceID: "w:general", Name: "x", Bytes: 8000})
		if err != nil {
			t.Fatal(err)
		}
		ups[who.UserID] = up.UploadID
	}
	for who, id := range ups {
		got, err := w.uploads.Append(t.Context(), of(who), id, 0, ubl.Source{Reader: bytes.NewReader(content(8000))})
		if ubl.CodeOf(err) == ubl.CodeQuotaExceeded {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
		came += got.Offset
	}
	if refused == 0 || came > 3*8000 {
		t.Errorf("%d bytes came, %d were refused", came, refused)
	}
}

// TestReserved: who begins reserves for themselves. Others are kept out only by what has come.
func TestReserved(t *testing.T) {
	w := open(t, t.TempDir())
	id := w.begin(t, 5000)
	if _, err := w.bring(id, 0, content(300), nil); err != nil {
		t.Fatal(err)
	}
	for i, who := range []ubl.Identity{ana, bob, eve} {
		if n, want := w.uploads.Staged(who), []int64{5000, 300, 0}[i]; n != want {
			t.Errorf("of %s in %s %d bytes count, not %d", who.UserID, who.TenantID, n, want)
		}
	}
}

// TestAnswersAreFew: uploads that became files are remembered for who asks again, and no more of
// one person's than that takes.
func TestAnswersAreFew(t *testing.T) {
	w := open(t, t.TempDir())
	for range 150 {
		if err := w.whole(ana, 1); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Second)
	}
	if err := w.whole(bob, 1); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(w.dir, "uploads", "*"))
	if err != nil || len(left) > 101 {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

// TestShortContent: what comes as a whole is kept without an upload.
func TestShortContent(t *testing.T) {
	w := open(t, t.TempDir())
	want := content(5000)
	id, err := w.uploads.Put(t.Context(), ana, want)
	if err != nil || id != idOf(want) {
		t.Fatalf("it is %s, %v", id, err)
	}
	if got, err := w.read(id); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes are read, %v", len(got), err)
	}
	if files := w.files(t); len(files) != 1 {
		t.Errorf("there are %v", files)
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
