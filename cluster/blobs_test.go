package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ubl"
	"ubl/blobs"
	"ubl/test/poll"
)

var ana = ubl.Identity{UserID: "u:ana", TenantID: "t:acme.com"}

// pond is a world whose nodes serve blobs and uploads.
type pond struct {
	*world
	blobs   []*Blobs
	uploads []*Uploads
}

func newPond(t *testing.T, n int) *pond {
	return newQuietPond(t, n, 50*time.Millisecond)
}

// newQuietPond is one whose nodes look for blobs that they lack as seldom as that.
func newQuietPond(t *testing.T, n int, every time.Duration) *pond {
	p := &pond{world: newWorld(t, n, func(o *Options) { steady(o); o.MendBlobsEvery = every })}
	p.blobs, p.uploads = make([]*Blobs, n), make([]*Uploads, n)
	for i := range n {
		p.serve(i)
	}
	return p
}

// serve has a node serve blobs, as its start does.
func (p *pond) serve(i int) {
	p.t.Helper()
	o := blobs.Options{Now: time.Now, Random: rand.Reader}
	dir := filepath.Join(p.dirs[i], "blobs")
	folder, err := blobs.OpenFolder(dir, o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.blobs[i] = p.nodes[i].ServeBlobs(folder)
	here, err := blobs.OpenUploads(dir, p.blobs[i], ubl.UploadNode(p.nodes[i].ID()), o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.uploads[i] = p.nodes[i].ServeUploads(here)
}

// staged writes a content to where an upload would have it.
func (p *pond) staged(content []byte) (string, ubl.BlobID) {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "data")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path, ubl.BlobIDOf(sha256.Sum256(content))
}

func (p *pond) has(i int, id ubl.BlobID) bool {
	_, err := p.blobs[i].here.Stat(context.Background(), ana.TenantID, id)
	return err == nil
}

func (p *pond) read(i int, id ubl.BlobID) ([]byte, error) {
	r, err := p.blobs[i].Open(context.Background(), ana.TenantID, id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// refer has the tenant's records refer to blobs, unrefer ends that.
func (p *pond) refer(ids ...ubl.BlobID)   { p.submit([]byte{1}, ids) }
func (p *pond) unrefer(ids ...ubl.BlobID) { p.submit(nil, ids) }

func (p *pond) submit(value []byte, ids []ubl.BlobID) {
	p.t.Helper()
	g := ubl.TenantName(ana.TenantID).Group()
	var leader *Node
	poll.Until(p.t, "the partition has a leader", func() bool {
		leader = p.leader(p.nodes[0].engine.Partition(g))
		return leader != nil
	})
	lease, head, err := leader.engine.Begin(context.Background(), g)
	if err != nil {
		p.t.Fatal(err)
	}
	settled := make(chan error, 1)
	records := make([]ubl.Record, len(ids))
	for i, id := range ids {
		records[i] = ubl.Record{Key: ubl.BlobRef(id, "x"), Value: value}
	}
	leader.engine.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: head, Records: records}, func(err error) { settled <- err })
	if err := <-settled; err != nil {
		p.t.Fatal(err)
	}
}

// TestBlobOnAMajority: a kept blob is on a majority of the voters when Keep returns, and soon on
// all; any node reads it.
func TestBlobOnAMajority(t *testing.T) {
	t.Parallel() // a cluster waits more than it works
	p := newPond(t, 3)
	content := bytes.Repeat([]byte("0123456789"), 100_000)
	path, id := p.staged(content)
	if err := p.blobs[0].Keep(t.Context(), ana.TenantID, id, path); err != nil {
		t.Fatal(err)
	}
	have := 0
	for i := range 3 {
		if p.has(i, id) {
			have++
		}
	}
	if have < 2 {
		t.Errorf("%d of 3 have it", have)
	}
	poll.Until(t, "all voters have it", func() bool { return p.has(0, id) && p.has(1, id) && p.has(2, id) })
	for i := range 3 {
		if got, err := p.read(i, id); err != nil || !bytes.Equal(got, content) {
			t.Errorf("node %d reads %d bytes, %v", i, len(got), err)
		}
	}
	if err := p.blobs[1].Keep(t.Context(), ana.TenantID, id, path); err != nil { // again, by another node
		t.Error(err)
	}
}

// TestBlobWithoutAMajority: with one of three nodes nothing is kept as if it were safe. The same
// again succeeds once another is back, which then has it.
func TestBlobWithoutAMajority(t *testing.T) {
	t.Parallel() // a cluster waits more than it works
	p := newPond(t, 3)
	path, id := p.staged([]byte("content"))
	p.stop(1)
	p.stop(2)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := p.blobs[0].Keep(ctx, ana.TenantID, id, path); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("kept by one of three: %v", err)
	}
	p.start(1)
	p.serve(1)
	poll.Until(t, "it is kept by two of three", func() bool { return p.blobs[0].Keep(t.Context(), ana.TenantID, id, path) == nil })
	if !p.has(1, id) {
		t.Error("the other node doesn't have it")
	}
	p.start(2)
	p.serve(2)
}

// TestBlobIsMended: a node that was away, and one whose blob was put aside or changed, has it
// again; what another node has damaged is never taken over.
func TestBlobIsMended(t *testing.T) {
	t.Parallel() // a cluster waits more than it works
	p := newPond(t, 3)
	content := bytes.Repeat([]byte("x"), 1<<20)
	path, id := p.staged(content)
	p.stop(2)
	if err := p.blobs[0].Keep(t.Context(), ana.TenantID, id, path); err != nil {
		t.Fatal(err)
	}
	p.refer(id)
	p.start(2)
	p.serve(2)
	poll.Until(t, "the node that was away has it", func() bool { return p.has(2, id) })

	damaged := filepath.Join(p.dirs[0], "blobs", "kept", "t_acme.com", string(id[:2]), string(id))
	if err := os.WriteFile(damaged, bytes.Repeat([]byte("y"), len(content)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.read(0, id); !errors.Is(err, ubl.ErrDamaged) {
		t.Errorf("the damaged one is read: %v", err)
	}
	if err := os.Remove(filepath.Join(p.dirs[1], "blobs", "kept", "t_acme.com", string(id[:2]), string(id))); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "the second node reads it", func() bool { // from 0, which has it damaged, or from 2, to which it may not be connected again yet
		got, err := p.read(1, id)
		if err == nil && !bytes.Equal(got, content) || err != nil && ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Fatalf("the second node reads %d bytes, %v", len(got), err)
		}
		return err == nil
	})
	done, err := blobs.Scrub(t.Context(), p.blobs[0].here, blobs.ScrubOptions{Aside: p.blobs[0].here.SetAside, Found: func(t ubl.TenantID, id ubl.BlobID, _ error) { p.blobs[0].Lost(t, id) }})
	if err != nil || done.Damaged != 1 {
		t.Errorf("the scrub comes to %+v, %v", done, err)
	}
	poll.Until(t, "the first node has it again", func() bool {
		got, err := p.read(0, id)
		return err == nil && bytes.Equal(got, content)
	})
}

// TestBlobIsYielded: a node that doesn't vote on the tenant's partition removes what it has once
// all that vote have it. What is young stays, and what voters have.
func TestBlobIsYielded(t *testing.T) {
	t.Parallel() // a cluster waits more than it works
	p := newPond(t, 4)
	content := bytes.Repeat([]byte("x"), 1<<20)
	path, id := p.staged(content)
	var voters []int
	poll.Until(t, "three of four vote", func() bool {
		voters = voters[:0]
		for i := range 4 {
			if p.blobs[i].votes(ana.TenantID) {
				voters = append(voters, i)
			}
		}
		return len(voters) == 3
	})
	other := 6 - voters[0] - voters[1] - voters[2]
	if err := p.blobs[other].here.Keep(t.Context(), ana.TenantID, id, path); err != nil {
		t.Fatal(err)
	}
	now := ubl.TimeOf(time.Now())
	if done, err := p.blobs[other].Yield(t.Context(), now.Add(-time.Hour)); done.Blobs != 0 || err != nil {
		t.Errorf("a young one: %+v, %v", done, err)
	}
	p.stop(voters[0])
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if done, err := p.blobs[other].Yield(ctx, now.Add(time.Hour)); done.Blobs != 0 || err == nil || !p.has(other, id) {
		t.Errorf("with a voter away: %+v, %v", done, err)
	}
	p.start(voters[0])
	p.serve(voters[0])
	poll.Until(t, "it is yielded", func() bool {
		done, err := p.blobs[other].Yield(t.Context(), now.Add(time.Hour))
		return done == (blobs.Collected{Blobs: 1, Bytes: 1 << 20}) && err == nil
	})
	for i := range 4 {
		if p.has(i, id) != (i != other) {
			t.Errorf("node %d of those whose other is %d has it: %v", i, other, p.has(i, id))
		}
		if done, err := p.blobs[i].Yield(t.Context(), now.Add(time.Hour)); done.Blobs != 0 || err != nil {
			t.Errorf("node %d once more: %+v, %v", i, done, err)
		}
	}
	if got, err := p.read(other, id); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the other node reads %d bytes, %v", len(got), err)
	}
}

// TestNoBlob: what nobody has isn't there; while a voter is away that isn't known.
func TestNoBlob(t *testing.T) {
	t.Parallel() // a cluster waits more than it works
	p := newPond(t, 3)
	_, id := p.staged([]byte("nobody's"))
	if _, err := p.read(0, id); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("read: %v", err)
	}
}

// TestUploadByAnyNode: an upload goes on by way of any node, and ends with its node.
func TestUploadByAnyNode(t *testing.T) {
	t.Parallel() // a cluster waits more than it works
	p := newPond(t, 3)
	content := make([]byte, 3<<20)
	_, _ = rand.Read(content)
	id := ubl.BlobIDOf(sha256.Sum256(content))
	ctx := t.Context()
	up, err := p.uploads[0].Begin(ctx, ana, ubl.Upload{WorkspaceID: "w:general", Name: "x", Type: ubl.UnknownType, Bytes: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	cut := io.MultiReader(bytes.NewReader(content[:1<<20]), failing{})
	got, err := p.uploads[1].Append(ctx, ana, up.UploadID, 0, ubl.Source{Reader: cut})
	if ubl.CodeOf(err) != ubl.CodeUnavailable || got == nil || got.Offset != 1<<20 {
		t.Fatalf("cut off: %+v, %v", got, err)
	}
	got, err = p.uploads[2].Append(ctx, ana, up.UploadID, 5, ubl.Source{Reader: bytes.NewReader(content)})
	if ubl.CodeOf(err) != ubl.CodeConflict || got == nil || got.Offset != 1<<20 {
		t.Errorf("elsewhere: %+v, %v", got, err)
	}
	if got, err = p.uploads[2].Look(ctx, ana, up.UploadID); err != nil || got.Offset != 1<<20 {
		t.Fatalf("looked at: %+v, %v", got, err)
	}
	if got, err = p.uploads[2].Append(ctx, ana, up.UploadID, got.Offset, ubl.Source{Reader: bytes.NewReader(content[1<<20:])}); err != nil || got.Offset != int64(len(content)) {
		t.Fatalf("the rest: %+v, %v", got, err)
	}
	for range 2 {
		if got, err = p.uploads[1].Finish(ctx, ana, up.UploadID); err != nil || got.SHA256 != id {
			t.Fatalf("finished: %+v, %v", got, err)
		}
	}
	if read, err := p.read(2, id); err != nil || !bytes.Equal(read, content) {
		t.Errorf("read %d bytes, %v", len(read), err)
	}
	other := ubl.Identity{UserID: "u:bob", TenantID: ana.TenantID}
	if _, err := p.uploads[1].Look(ctx, other, up.UploadID); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("another's: %v", err)
	}
	begun, err := p.uploads[0].Begin(ctx, ana, ubl.Upload{WorkspaceID: "w:general", Name: "x", Bytes: 5})
	if err != nil {
		t.Fatal(err)
	}
	p.stop(0)
	poll.Until(t, "an upload whose node has left is known to be gone", func() bool {
		_, err := p.uploads[1].Look(ctx, ana, begun.UploadID)
		return ubl.CodeOf(err) == ubl.CodeNotFound
	})
	p.start(0)
	p.serve(0)
	poll.Until(t, "it goes on when the node is back", func() bool {
		_, err := p.uploads[1].Look(ctx, ana, begun.UploadID)
		return err == nil
	})
	poll.Until(t, "it is ended by way of any node", func() bool { return p.uploads[2].End(ctx, ana, begun.UploadID) == nil })
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("cut") }

// lose takes a blob from a node's disk.
func (p *pond) lose(i int, id ubl.BlobID) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.dirs[i], "blobs", "kept", "t_acme.com", string(id[:2]), string(id))); err != nil {
		p.t.Fatal(err)
	}
}

// TestMendLooksAtWhatIsNew: a round costs what was written since the last, not what there is. What
// is missing everywhere is counted until it is there again, or nobody needs it.
func TestMendLooksAtWhatIsNew(t *testing.T) {
	p := newQuietPond(t, 1, time.Hour)
	keep := func(content string) ubl.BlobID {
		path, id := p.staged([]byte(content))
		if err := p.blobs[0].Keep(t.Context(), ana.TenantID, id, path); err != nil {
			t.Fatal(err)
		}
		return id
	}
	old := keep("old")
	p.refer(old)
	round := func(what string, want int) {
		t.Helper()
		if n := p.blobs[0].Mend(t.Context()); n != want || p.blobs[0].Missing() != want {
			t.Errorf("%s: %d are missing, not %d", what, n, want)
		}
	}
	round("the first round", 0)
	p.lose(0, old)
	p.refer(keep("new"))
	round("after something else was written", 0)
	never := ubl.BlobIDOf(sha256.Sum256([]byte("never kept")))
	p.refer(never)
	round("a reference to nothing", 1)
	p.blobs[0].LookAgain()
	round("looking at everything", 2)
	p.unrefer(never)
	keep("old")
	p.blobs[0].LookAgain()
	round("kept again, or not needed", 0)
}
