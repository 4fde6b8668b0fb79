package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"ubl"
	"ubl/blobs"
	"ubl/test/poll"
)

// looks is a scanner that says what a test wants, once it may.
type looks struct {
	found string
	err   error
	waits chan struct{} // nil for at once
	begun chan struct{}
	n     int
	saw   []byte
}

func (l *looks) Scan(_ context.Context, _ ubl.Identity, r io.Reader) (string, error) {
	l.n++
	if l.waits != nil {
		close(l.begun)
		<-l.waits
	}
	b, err := io.ReadAll(r)
	l.saw = b
	return l.found, errors.Join(err, l.err)
}

// refusal is one that was put on record.
type refusal struct {
	who   ubl.UserID
	bytes int64
	found string
}

// scanned is a world whose uploads are looked into, and what was put on record there.
func scanned(t *testing.T, l *looks) (w *world, told *[]refusal) {
	told = new([]refusal)
	w = open(t, t.TempDir())
	w.scanner = l
	w.refused = func(_ context.Context, who ubl.Identity, bytes int64, found string) error {
		*told = append(*told, refusal{who.UserID, bytes, found})
		return nil
	}
	w.start(t)
	return w, told
}

// waiting is an upload of ana's that is all there.
func (w *world) waiting(t *testing.T, content []byte) ubl.UploadID {
	t.Helper()
	id := w.begin(t, len(content))
	if _, err := w.bring(id, 0, content, nil); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestScanClean: what nothing is found in is kept, and looked into once.
func TestScanClean(t *testing.T) {
	l := &looks{}
	w, told := scanned(t, l)
	want := content(5000)
	id := w.waiting(t, want)
	for range 2 {
		if up, err := w.uploads.Finish(t.Context(), ana, id); err != nil || up.SHA256 != idOf(want) {
			t.Fatalf("finished: %+v, %v", up, err)
		}
	}
	if _, err := w.uploads.Put(t.Context(), ana, want); err != nil {
		t.Errorf("a content as a whole: %v", err)
	}
	if l.n != 2 || !bytes.Equal(l.saw, want) || len(*told) != 0 {
		t.Errorf("%d looks, on record %v", l.n, *told)
	}
}

// TestScanFound: what something is found in is put on record and gone, and nobody is offered it.
func TestScanFound(t *testing.T) {
	w, told := scanned(t, &looks{found: "Eicar"})
	bad := content(5000)
	id := w.waiting(t, bad)
	if _, err := w.uploads.Finish(t.Context(), ana, id); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("finished: %v", err)
	}
	if _, err := w.uploads.Look(t.Context(), ana, id); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("the upload is still there: %v", err)
	}
	if _, err := w.uploads.Put(t.Context(), bob, bad); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a content as a whole: %v", err)
	}
	if left := w.files(t); len(left) > 0 {
		t.Errorf("there are left %v", left)
	}
	if want := []refusal{{"u:ana", 5000, "Eicar"}, {"u:bob", 5000, "Eicar"}}; len(*told) != 2 || (*told)[0] != want[0] || (*told)[1] != want[1] {
		t.Errorf("on record: %v", *told)
	}
}

// TestScanOnRecordFirst: what can't be put on record doesn't go. It is refused by the next request.
func TestScanOnRecordFirst(t *testing.T) {
	w, _ := scanned(t, &looks{found: "Eicar"})
	id := w.waiting(t, content(10))
	w.broken = ubl.Errorf(ubl.CodeUnavailable, "nobody writes now")
	if _, err := w.uploads.Finish(t.Context(), ana, id); !errors.Is(err, w.broken) {
		t.Errorf("finished: %v", err)
	}
	w.broken = nil
	if _, err := w.uploads.Finish(t.Context(), ana, id); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("and again: %v", err)
	}
}

// TestScanFails: while the scanner says nothing nothing is kept, and the upload waits.
func TestScanFails(t *testing.T) {
	away := ubl.Errorf(ubl.CodeUnavailable, "away")
	l := &looks{err: away}
	w, told := scanned(t, l)
	good := content(5000)
	id := w.waiting(t, good)
	if _, err := w.uploads.Finish(t.Context(), ana, id); !errors.Is(err, away) {
		t.Errorf("finished: %v", err)
	}
	if _, err := w.uploads.Put(t.Context(), ana, good); !errors.Is(err, away) {
		t.Errorf("a content as a whole: %v", err)
	}
	if _, err := w.read(idOf(good)); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("it is kept: %v", err)
	}
	w.start(t)
	l.err = nil
	if up, err := w.uploads.Finish(t.Context(), ana, id); err != nil || up.SHA256 != idOf(good) || len(*told) != 0 {
		t.Errorf("finished later: %+v, %v, on record %v", up, err, *told)
	}
}

// TestScanPanics: a scan that panics has found nothing out, so nothing is kept.
func TestScanPanics(t *testing.T) {
	w, _ := scanned(t, &looks{})
	w.scanner = panicking{}
	w.start(t)
	id := w.waiting(t, content(10))
	if _, err := w.uploads.Finish(t.Context(), ana, id); ubl.CodeOf(err) != ubl.CodeInternal {
		t.Errorf("finished: %v", err)
	}
}

type panicking struct{}

func (panicking) Scan(context.Context, ubl.Identity, io.Reader) (string, error) { panic("a scan") }

// TestScanSlow: who doesn't wait for the scan hears that it is under way, and so does who looks. Who
// asks again has what it found; and an upload may end meanwhile.
func TestScanSlow(t *testing.T) {
	l := &looks{waits: make(chan struct{}), begun: make(chan struct{})}
	w, _ := scanned(t, l)
	good := content(5000)
	id := w.waiting(t, good)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-l.begun; cancel() }()
	if _, err := w.uploads.Finish(ctx, ana, id); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("who gave up hears %v", err)
	}
	up, err := w.uploads.Look(t.Context(), ana, id)
	if err != nil || !up.Scanning || up.Offset != up.Bytes {
		t.Errorf("meanwhile it is %+v, %v", up, err)
	}
	if _, err := w.uploads.Look(t.Context(), bob, id); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("somebody else sees it: %v", err)
	}
	close(l.waits)
	if up, err := w.uploads.Finish(t.Context(), ana, id); err != nil || up.SHA256 != idOf(good) || up.Scanning || l.n != 1 {
		t.Errorf("asked again: %+v, %v after %d looks", up, err, l.n)
	}
}

// TestScanGivenUp: an upload that is being looked into ends at once where its sender wants that.
func TestScanGivenUp(t *testing.T) {
	l := &looks{waits: make(chan struct{}), begun: make(chan struct{})}
	w, _ := scanned(t, l)
	id := w.waiting(t, content(10))
	finished := make(chan error)
	go func() { _, err := w.uploads.Finish(context.Background(), ana, id); finished <- err }()
	<-l.begun
	if err := w.uploads.End(t.Context(), ana, id); err != nil {
		t.Error(err)
	}
	if err := <-finished; ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("who waited hears %v", err)
	}
	close(l.waits)
	if left := w.files(t); len(left) > 0 {
		t.Errorf("there are left %v", left)
	}
}

// TestScanFoundLater: what is found is put on record and its bytes go when its sender has left, and even
// when they have ended the upload. Who asks again hears of it, also after a restart.
func TestScanFoundLater(t *testing.T) {
	for _, ends := range []bool{false, true} {
		l := &looks{found: "Eicar", waits: make(chan struct{}), begun: make(chan struct{})}
		w, _ := scanned(t, l)
		told := make(chan refusal, 9)
		w.refused = func(ctx context.Context, who ubl.Identity, bytes int64, found string) error {
			told <- refusal{who.UserID, bytes, found}
			return ctx.Err()
		}
		id := w.waiting(t, content(5000))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-l.begun; cancel() }()
		if _, err := w.uploads.Finish(ctx, ana, id); ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("who left hears %v", err)
		}
		want := ubl.CodeForbidden
		if ends {
			want = ubl.CodeNotFound
			if err := w.uploads.End(t.Context(), ana, id); err != nil {
				t.Error(err)
			}
		}
		close(l.waits)
		poll.Until(t, "it is on record", func() bool { return len(told) == 1 })
		if got := <-told; got != (refusal{"u:ana", 5000, "Eicar"}) {
			t.Errorf("on record: %v", got)
		}
		poll.Until(t, "its bytes are gone", func() bool {
			left, err := filepath.Glob(filepath.Join(w.dir, "uploads", "*", "data"))
			return err == nil && len(left) == 0
		})
		if !ends {
			poll.Until(t, "it is looked into", func() bool { up, err := w.uploads.Look(t.Context(), ana, id); return err == nil && !up.Scanning })
		}
		w.start(t)
		for _, want := range []ubl.Code{want, ubl.CodeNotFound} {
			if _, err := w.uploads.Finish(t.Context(), ana, id); ubl.CodeOf(err) != want {
				t.Errorf("asked again, ended %v: %v", ends, err)
			}
		}
		if left := w.files(t); len(left) > 0 || len(told) > 0 {
			t.Errorf("there are left %v, and %d more are on record", left, len(told))
		}
	}
}

// TestScanFoundInContent: who leaves before a short content is refused is on record all the same.
func TestScanFoundInContent(t *testing.T) {
	w, _ := scanned(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	w.scanner = leaves(cancel)
	var told error
	w.refused = func(ctx context.Context, _ ubl.Identity, _ int64, _ string) error { told = ctx.Err(); return told }
	w.start(t)
	if _, err := w.uploads.Put(ctx, ana, content(10)); ubl.CodeOf(err) != ubl.CodeForbidden || told != nil {
		t.Errorf("answered %v, on record %v", err, told)
	}
}

// leaves finds something as its caller leaves.
type leaves func()

func (l leaves) Scan(context.Context, ubl.Identity, io.Reader) (string, error) {
	l()
	return "Eicar", nil
}

var _ blobs.Scanner = (*looks)(nil)
