package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ubl"
	"ubl/blobs"
)

// TestPut: what is kept is read again, whole and in parts; what isn't the blob is refused, and
// nothing of it stays.
func TestPut(t *testing.T) {
	w := open(t, t.TempDir())
	for _, n := range []int{0, 1, 70_000, 3 << 20} {
		want := content(n)
		id := w.put(t, ana.TenantID, want)
		if have, err := w.read(id); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%d bytes: read %d bytes, %v", n, len(have), err)
		}
		if b, err := w.folder.Stat(t.Context(), ana.TenantID, id); err != nil || b.Bytes != int64(n) {
			t.Errorf("%d bytes: it is %+v, %v", n, b, err)
		}
		if n == 0 {
			continue
		}
		r, err := w.folder.Open(t.Context(), ana.TenantID, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Seek(int64(n/2), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if have, err := io.ReadAll(r); err != nil || !bytes.Equal(have, want[n/2:]) {
			t.Errorf("%d bytes: the second half is %d bytes, %v", n, len(have), err)
		}
		r.Close()
	}
	before := len(w.files(t))
	err := w.folder.Put(t.Context(), ana.TenantID, idOf([]byte("this")), bytes.NewReader([]byte("that")))
	if !errors.Is(err, ubl.ErrDamaged) || len(w.files(t)) != before {
		t.Errorf("another content: %v, %d files more", err, len(w.files(t))-before)
	}
}

// TestTenantsAreApart: a tenant doesn't find what another one keeps.
func TestTenantsAreApart(t *testing.T) {
	w := open(t, t.TempDir())
	id := w.put(t, ana.TenantID, []byte("a secret"))
	if _, err := w.folder.Open(t.Context(), eve.TenantID, id); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("opened by another tenant: %v", err)
	}
	w.put(t, eve.TenantID, []byte("a secret"))
	if removed, err := w.folder.Remove(t.Context(), eve.TenantID, id, ubl.TimeOf(w.now)); !removed || err != nil {
		t.Errorf("removed: %t, %v", removed, err)
	}
	if _, err := w.read(id); err != nil {
		t.Errorf("another tenant's removal took it: %v", err)
	}
	for _, strange := range []ubl.TenantID{"", "t:../x", "t:a/b", "x"} {
		if _, err := w.folder.Stat(t.Context(), strange, id); err == nil {
			t.Errorf("there is a tenant %q", strange)
		}
	}
	for _, strange := range []ubl.BlobID{"", "..", id[1:], "A" + id[1:], id + "0"} {
		if _, err := w.folder.Stat(t.Context(), ana.TenantID, strange); err == nil {
			t.Errorf("there is a blob %q", strange)
		}
	}
}

// TestDamage: a blob that was changed on disk is never read as a whole, and the scrub puts it
// aside.
func TestDamage(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"a byte":      func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"the last":    func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut short":   func(b []byte) []byte { return b[:len(b)-1] },
		"emptied":     func([]byte) []byte { return nil },
		"made longer": func(b []byte) []byte { return append(b, 0) },
	} {
		w := open(t, t.TempDir())
		sound, id := w.put(t, ana.TenantID, []byte("sound")), w.put(t, ana.TenantID, content(100_000))
		w.spoil(t, id, change)
		have, err := w.read(id)
		if !errors.Is(err, ubl.ErrDamaged) {
			t.Errorf("%s: %d bytes are read, %v", name, len(have), err)
		}
		found := 0
		o := blobs.ScrubOptions{Aside: w.folder.SetAside, Found: func(_ ubl.TenantID, b ubl.BlobID, _ error) {
			if found++; b != id {
				t.Errorf("%s: the scrub finds %s", name, b)
			}
		}}
		done, err := blobs.Scrub(t.Context(), w.folder, o)
		if err != nil || done.Damaged != 1 || done.Blobs != 2 || found != 1 {
			t.Errorf("%s: a pass comes to %+v, %v", name, done, err)
		}
		if _, err := w.read(id); ubl.CodeOf(err) != ubl.CodeNotFound {
			t.Errorf("%s: afterwards %v", name, err)
		}
		if _, err := w.read(sound); err != nil {
			t.Errorf("%s: the sound one: %v", name, err)
		}
		if done, err := blobs.Scrub(t.Context(), w.folder, o); err != nil || done.Damaged != 0 || done.Blobs != 1 {
			t.Errorf("%s: a second pass comes to %+v, %v", name, done, err)
		}
	}
}

// TestStrangersInAFolder: what somebody else left there keeps nothing from being looked through.
func TestStrangersInAFolder(t *testing.T) {
	w := open(t, t.TempDir())
	id := w.put(t, ana.TenantID, []byte("sound"))
	of := filepath.Join(w.dir, "kept", "t_acme.com")
	if err := os.WriteFile(filepath.Join(of, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(of, string(id[:2]), string(id[:2])+strings.Repeat("0", 62)), 0o700); err != nil {
		t.Fatal(err)
	}
	if done, err := blobs.Scrub(t.Context(), w.folder, blobs.ScrubOptions{}); err != nil || done.Blobs != 1 {
		t.Errorf("a pass comes to %+v, %v", done, err)
	}
}

// badSector is a file of which the disk can't read a part.
type badSector struct{ *bytes.Reader }

func (badSector) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: "x", Err: syscall.EIO}
}
func (badSector) Close() error { return nil }

// TestBadSector: what the disk can't read any more is damage, like what it reads wrong.
func TestBadSector(t *testing.T) {
	r, err := blobs.Checked(badSector{bytes.NewReader([]byte("x"))}, idOf([]byte("x")), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, ubl.ErrDamaged) {
		t.Errorf("read: %v", err)
	}
}

// TestKeptAgain: a blob that is kept once more isn't removed as an old one.
func TestKeptAgain(t *testing.T) {
	w := open(t, t.TempDir())
	id := w.put(t, ana.TenantID, []byte("x"))
	old := ubl.TimeOf(w.now)
	w.now = w.now.Add(time.Hour)
	w.put(t, ana.TenantID, []byte("x"))
	if removed, err := w.folder.Remove(t.Context(), ana.TenantID, id, old); removed || err != nil {
		t.Errorf("removed: %t, %v", removed, err)
	}
	if removed, err := w.folder.Remove(t.Context(), ana.TenantID, id, ubl.TimeOf(w.now)); !removed || err != nil {
		t.Errorf("not removed: %t, %v", removed, err)
	}
	if files := w.files(t); len(files) != 0 {
		t.Errorf("there are still %v", files)
	}
}

// referrer stands for the Tenant: it says that some blobs are referred to.
type referrer struct {
	referred map[ubl.BlobID]bool
	fails    error
	asked    []ubl.CollectBlobs
}

func (r *referrer) Ask(_ context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	c := cmd.(ubl.CollectBlobs)
	r.asked = append(r.asked, c)
	if to != ubl.TenantName(ana.TenantID) || r.fails != nil {
		return nil, errors.Join(errors.New("asked elsewhere"), r.fails)
	}
	free := &ubl.Collected{Receipt: &ubl.Receipt{Seq: 7}}
	for _, id := range c.Blobs {
		if !r.referred[id] {
			free.Blobs = append(free.Blobs, id)
		}
	}
	return free, nil
}

// TestCollect removes what is old and unreferred, after the Tenant has put that on record.
func TestCollect(t *testing.T) {
	w := open(t, t.TempDir())
	kept, free := w.put(t, ana.TenantID, []byte("kept")), w.put(t, ana.TenantID, []byte("free"))
	w.now = w.now.Add(blobs.Grace + time.Second)
	young := w.put(t, ana.TenantID, []byte("young"))
	tenant := &referrer{referred: map[ubl.BlobID]bool{kept: true}, fails: errCut}
	c := blobs.Collector{From: w.folder, Ask: tenant, NodeID: "n1", Now: func() time.Time { return w.now },
		Request: func() (ubl.Request, error) { return ubl.Request{Who: ubl.Platform(), ID: "req:1", Key: "k"}, nil }}
	if done, err := c.Collect(t.Context()); done.Blobs != 0 || !errors.Is(err, errCut) {
		t.Errorf("without a receipt %+v are removed, %v", done, err)
	}
	tenant.fails = nil
	done, err := c.Collect(t.Context())
	if err != nil || done != (blobs.Collected{Blobs: 1, Bytes: 4}) {
		t.Errorf("removed %+v, %v", done, err)
	}
	for id, there := range map[ubl.BlobID]bool{kept: true, free: false, young: true} {
		if _, err := w.read(id); (err == nil) != there {
			t.Errorf("%s is there: %v, want %t", id, err, there)
		}
	}
	if last := tenant.asked[len(tenant.asked)-1]; len(last.Blobs) != 2 || len(last.Bytes) != 2 || last.NodeID != "n1" {
		t.Errorf("the tenant was asked %+v", last)
	}
}
