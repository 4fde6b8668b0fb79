package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/archive"
	"ubl/test/harness"
)

// kept are contents in memory.
type kept map[ubl.BlobID]string

type content struct{ *strings.Reader }

func (content) Close() error { return nil }

// Open implements [archive.Blobs].
func (k kept) Open(_ context.Context, _ ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	s, ok := k[id]
	if !ok {
		return nil, ubl.ErrNoBlob()
	}
	return content{strings.NewReader(s)}, nil
}

// keep keeps a content and answers its id.
func (k kept) keep(s string) ubl.BlobID {
	id := ubl.BlobIDOf(sha256.Sum256([]byte(s)))
	k[id] = s
	return id
}

// world is a tenant whose people take their data home.
type world struct {
	*harness.House
	t             testing.TB
	blobs         kept
	ana, bob, cem ubl.Identity // ana owns the tenant
}

func open(t testing.TB) *world {
	w := &world{
		House: harness.Open(t, harness.Options{}), t: t, blobs: kept{},
		ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com"), cem: harness.User("cem@example.com"),
	}
	for _, who := range []ubl.Identity{w.ana, w.bob, w.cem} {
		w.Enter(who)
	}
	return w
}

func (w *world) archives() *archive.Archives {
	return archive.New(archive.Options{Asker: w.Runtime, Blobs: w.blobs, Now: w.Clock.Now, Version: "test"})
}

// room makes one of somebody's, with more members.
func (w *world) room(owner ubl.Identity, name string, others ...ubl.Identity) ubl.Name {
	w.t.Helper()
	made := harness.Must[*ubl.RoomSummary](w.House, ubl.TenantName(owner.TenantID), ubl.CreateRoom{Request: w.Request(owner), Name: name})
	room := ubl.RoomName(owner.TenantID, made.RoomID)
	for _, who := range others {
		w.add(room, owner, who)
	}
	return room
}

func (w *world) add(room ubl.Name, owner, who ubl.Identity) {
	w.t.Helper()
	harness.Must[*ubl.Member](w.House, room, ubl.AddMember{Request: w.Request(owner), Member: ubl.Member{UserID: who.UserID, Email: who.Email, Role: ubl.RoleMember}})
}

func (w *world) remove(room ubl.Name, by, who ubl.Identity) {
	w.t.Helper()
	harness.Must[*ubl.Member](w.House, room, ubl.RemoveMember{Request: w.Request(by), UserID: who.UserID})
}

func (w *world) send(room ubl.Name, who ubl.Identity, text string, files ...ubl.Attachment) (m ubl.Message) {
	w.t.Helper()
	sent := harness.Must[*ubl.Sent](w.House, room, ubl.SendMessage{Request: w.Request(who), Text: text, Attachments: files})
	if err := json.Unmarshal(sent.Message, &m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) redact(room ubl.Name, who ubl.Identity, m ubl.MessageID) {
	w.t.Helper()
	harness.Must[*ubl.Posted](w.House, room, ubl.PostEntry{Request: w.Request(who), Type: ubl.EntryRedaction, Target: m, Body: ubl.RedactionContent("")})
}

// taken is an archive that was taken home.
type taken struct {
	files    map[string]string
	manifest archive.Manifest
	all      string // of all files, their names too
}

// take writes somebody's archive, and reads it.
func (w *world) take(who ubl.Identity) taken {
	w.t.Helper()
	var b bytes.Buffer
	begun := harness.Must[*ubl.OwnExport](w.House, ubl.PersonName(who.TenantID, who.UserID), ubl.ExportOwn{Request: w.Request(who)})
	if err := w.archives().Write(w.t.Context(), &b, w.Request(who), begun.Receipt); err != nil {
		w.t.Fatal(err)
	}
	return w.read(b.String())
}

// read reads an archive, and holds it against its manifest.
func (w *world) read(written string) taken {
	w.t.Helper()
	r, err := zip.NewReader(strings.NewReader(written), int64(len(written)))
	if err != nil {
		w.t.Fatal(err)
	}
	out := taken{files: map[string]string{}}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			w.t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			w.t.Fatal(err)
		}
		out.files[f.Name] = string(data)
		out.all += f.Name + "\n" + string(data) + "\n"
	}
	if last := r.File[len(r.File)-1].Name; last != "manifest.json" {
		w.t.Errorf("the last file is %s", last)
	}
	if err := json.Unmarshal([]byte(out.files["manifest.json"]), &out.manifest); err != nil {
		w.t.Fatal(err)
	}
	if len(out.manifest.Files) != len(r.File)-1 {
		w.t.Errorf("the manifest lists %d of %d files", len(out.manifest.Files), len(r.File)-1)
	}
	for _, f := range out.manifest.Files {
		sum := sha256.Sum256([]byte(out.files[f.Path]))
		if f.Bytes != int64(len(out.files[f.Path])) || f.SHA256 != hex.EncodeToString(sum[:]) {
			w.t.Errorf("%s is not what the manifest says", f.Path)
		}
	}
	return out
}

// has holds an archive against what must be in it and what must not.
func (a taken) has(t testing.TB, in, out []string) {
	t.Helper()
	for _, text := range in {
		if !strings.Contains(a.all, text) {
			t.Errorf("%q is not in the archive", text)
		}
	}
	for _, text := range out {
		for name, data := range a.files {
			if strings.Contains(name+data, text) {
				t.Errorf("%q is in %s", text, name)
			}
		}
	}
}

// TestWhatIsInIt: of rooms that bob is in what its history shows him, of those that he left, was
// removed from or that are gone his own words alone, nothing that was redacted, nothing of rooms
// that he was never in, and nothing that disappeared.
func TestWhatIsInIt(t *testing.T) {
	w := open(t)
	in, left, out := w.room(w.ana, "together", w.bob), w.room(w.ana, "left", w.bob), w.room(w.ana, "removed", w.bob)
	never := w.room(w.ana, "never", w.cem)
	fading := w.room(w.bob, "fading")
	w.send(in, w.ana, "anas-in")
	w.send(in, w.bob, "bobs-in")
	regret := w.send(in, w.bob, "bobs-regret")
	anas := w.send(in, w.ana, "anas-regret")
	w.redact(in, w.bob, regret.MsgID)
	w.redact(in, w.ana, anas.MsgID)
	for _, room := range []ubl.Name{left, out} {
		w.send(room, w.ana, "anas-elsewhere")
		w.send(room, w.bob, "bobs-"+room.Local()[2:])
	}
	w.remove(left, w.bob, w.bob)
	w.remove(out, w.ana, w.bob)
	w.send(left, w.ana, "anas-later")
	w.send(never, w.cem, "cems-never")
	days := 1
	harness.Must[*ubl.Room](w.House, fading, ubl.SetRoomPolicy{Request: w.Request(w.bob), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	w.send(fading, w.bob, "bobs-faded")
	w.Clock.Add(72 * 3600e9)
	w.Alarms()
	w.send(fading, w.bob, "bobs-fresh")

	a := w.take(w.bob)
	a.has(t, []string{"anas-in", "bobs-in", "bobs-left", "bobs-removed", "bobs-fresh", "bob@example.com"},
		[]string{"bobs-regret", "anas-regret", "anas-elsewhere", "anas-later", "cems-never", "bobs-faded", "cem@example.com"})
	if m := a.manifest; m.Format != archive.Format || m.UserID != w.bob.UserID || m.TenantID != w.bob.TenantID || m.Receipt.Seq == 0 || m.Version != "test" ||
		m.Counts.Messages != 4 || m.Counts.Acts == 0 {
		t.Errorf("the manifest says %+v", m)
	}
	w.Restart()
	if again := w.take(w.bob); again.files["left-rooms/0001-left/entries.jsonl"] != a.files["left-rooms/0001-left/entries.jsonl"] {
		t.Error("after a restart it is another archive")
	}
}

// TestReceipts: the person's acts verify by themselves, with holes for those of others, up to the
// act by which the archive began.
func TestReceipts(t *testing.T) {
	w := open(t)
	room := w.room(w.ana, "together", w.bob)
	for range 3 {
		w.send(room, w.ana, "hello")
		w.send(room, w.bob, "hello")
	}
	a := w.take(w.bob)
	v, err := ubl.Verify(strings.NewReader(a.files["receipts.ndjson"]), ubl.VerifyOptions{Earlier: a.manifest.Receipt.HeadHash})
	if _, ok := errors.AsType[*ubl.IncompleteError](err); !ok {
		t.Fatalf("verified with %v", err)
	}
	if v.Actions != a.manifest.Counts.Acts || v.Effects != v.Actions || v.Missing == 0 || v.Unfound || v.Actions < 4 {
		t.Errorf("verified %+v, of %d acts", v, a.manifest.Counts.Acts)
	}
	for line := range strings.Lines(a.files["receipts.ndjson"]) {
		if strings.Contains(line, `"who"`) && !strings.Contains(line, string(w.bob.UserID)) {
			t.Errorf("another's act is among them: %s", line)
		}
	}
	tampered := strings.Replace(a.files["receipts.ndjson"], `"status":"executed"`, `"status":"intended"`, 1)
	_, err = ubl.Verify(strings.NewReader(tampered), ubl.VerifyOptions{})
	if _, ok := errors.AsType[*ubl.IncompleteError](err); err == nil || ok {
		t.Errorf("tampered receipts are verified with %v", err)
	}
}

// TestHostileNames: names of rooms, documents and files lead to no path outside, nor hide anything,
// and what people wrote stands in pages as text.
func TestHostileNames(t *testing.T) {
	w := open(t)
	room := w.room(w.bob, "plans")
	for i, name := range []string{"CON", "a:b.txt", "..hidden", "<img src=x>.html", "RTLgnp.exe", strings.Repeat("é", 120) + ".pdf", "a|b?.txt"} {
		w.send(room, w.bob, "<script>alert(1)</script>", ubl.Attachment{
			Name: name, Type: "text/plain", Bytes: 1, SHA256: w.blobs.keep(strings.Repeat("x", i+1)),
		})
	}
	space := harness.Must[*ubl.ContainerMade](w.House, ubl.TenantName(w.bob.TenantID), ubl.CreateContainer{Request: w.Request(w.bob), Kind: "workspace", Name: "desk"})
	desk := ubl.ContainerName(w.bob.TenantID, space.Container.ContainerID)
	for _, title := range []string{"../../etc/passwd", `C:\windows\nul`, "a/b", "A/B", "...."} {
		harness.Must[*ubl.DocumentResult](w.House, desk, ubl.CreateDocument{Request: w.Request(w.bob), Title: title, Content: "text of " + title})
	}
	a := w.take(w.bob)
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(a.files)) {
		if path.Clean(name) != name || path.IsAbs(name) || strings.HasPrefix(name, "..") || strings.ContainsAny(name, "\\:*?\"<>|\u202e\u200b") || len(name) > 300 || seen[strings.ToLower(name)] {
			t.Errorf("a file is called %q", name)
		}
		for part := range strings.SplitSeq(name, "/") {
			if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || len(part) > 255 {
				t.Errorf("%q has the part %q", name, part)
			}
		}
		seen[strings.ToLower(name)] = true
		if strings.HasSuffix(name, ".html") && strings.Contains(name, "index") && strings.Contains(a.files[name], "<script") {
			t.Errorf("%s has a script", name)
		}
	}
	if a.manifest.Counts.Uploads != 7 || a.manifest.Counts.Documents != 5 || len(a.manifest.LeftOut) > 0 {
		t.Errorf("the archive has %+v, without %v", a.manifest.Counts, a.manifest.LeftOut)
	}
}

// TestDocumentsAndFiles: documents of containers that bob owns, files that he brought into any, and no
// others. A content that is lost is named.
func TestDocumentsAndFiles(t *testing.T) {
	w := open(t)
	desk := func(who ubl.Identity, name string) ubl.Name {
		made := harness.Must[*ubl.ContainerMade](w.House, ubl.TenantName(who.TenantID), ubl.CreateContainer{Request: w.Request(who), Kind: "workspace", Name: name})
		return ubl.ContainerName(who.TenantID, made.Container.ContainerID)
	}
	put := func(at ubl.Name, who ubl.Identity, text string) {
		harness.Must[*ubl.FileResult](w.House, at, ubl.PutFile{Request: w.Request(who), Name: text + ".txt", Type: "text/plain", Blob: w.blobs.keep(text), Bytes: int64(len(text))})
	}
	own, shared := desk(w.bob, "bobs"), desk(w.ana, "anas")
	w.add(shared, w.ana, w.bob)
	harness.Must[*ubl.DocumentResult](w.House, own, ubl.CreateDocument{Request: w.Request(w.bob), Title: "mine", Content: "bobs document"})
	harness.Must[*ubl.DocumentResult](w.House, shared, ubl.CreateDocument{Request: w.Request(w.ana), Title: "hers", Content: "anas document"})
	put(own, w.bob, "bobs file")
	put(shared, w.bob, "bobs shared file")
	put(shared, w.ana, "anas file")
	put(own, w.bob, "lost file")
	delete(w.blobs, ubl.BlobIDOf(sha256.Sum256([]byte("lost file"))))
	a := w.take(w.bob)
	a.has(t, []string{"bobs document", "bobs file", "bobs shared file"}, []string{"anas document", "anas file"})
	if len(a.manifest.LeftOut) != 1 || !strings.HasSuffix(a.manifest.LeftOut[0].ID, "lost-file.txt") || a.manifest.Counts.Uploads != 2 {
		t.Errorf("left out are %v, uploads %d", a.manifest.LeftOut, a.manifest.Counts.Uploads)
	}
}

// TestClosedTools: what ToolAccess closes to somebody is no part of their archive, and named.
func TestClosedTools(t *testing.T) {
	w := open(t)
	room := w.room(w.ana, "together", w.bob)
	w.send(room, w.bob, "bobs-words")
	harness.Must[*ubl.ToolAccess](w.House, ubl.TenantName(w.ana.TenantID), ubl.SetToolAccess{Request: w.Request(w.ana), Tool: "messenger.entries", Users: []ubl.UserID{w.ana.UserID}})
	a := w.take(w.bob)
	a.has(t, nil, []string{"bobs-words"})
	if !slices.ContainsFunc(a.manifest.LeftOut, func(l archive.LeftOut) bool { return l.ID == "rooms" }) {
		t.Errorf("left out are %v", a.manifest.LeftOut)
	}
}

// broken takes so many bytes and no more.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestCutOff: a client that goes ends it, and so does the end of its context.
func TestCutOff(t *testing.T) {
	w := open(t)
	room := w.room(w.bob, "plans")
	w.send(room, w.bob, "x", ubl.Attachment{Name: "x.bin", Type: "text/plain", Bytes: 1, SHA256: w.blobs.keep(strings.Repeat("0123456789", 50_000))})
	begun := harness.Must[*ubl.OwnExport](w.House, ubl.PersonName(w.bob.TenantID, w.bob.UserID), ubl.ExportOwn{Request: w.Request(w.bob)})
	if err := w.archives().Write(t.Context(), &broken{left: 500}, w.Request(w.bob), begun.Receipt); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it ended with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.archives().Write(ctx, io.Discard, w.Request(w.bob), begun.Receipt); err == nil {
		t.Error("it ended without an error")
	}
}

// TestOneAtATime: one archive for each person, and none for services.
func TestOneAtATime(t *testing.T) {
	w := open(t)
	a := w.archives()
	end, err := a.Begin(w.bob)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Begin(w.bob)
	if e := ubl.AsError(err); e.Code != ubl.CodeRateLimited || e.RetryAfter() != 30 {
		t.Errorf("a second one is answered %v", err)
	}
	other, err := a.Begin(w.ana)
	if err != nil {
		t.Error(err)
	} else {
		other()
	}
	end()
	if end, err = a.Begin(w.bob); err != nil {
		t.Error(err)
	} else {
		end()
	}
	service := w.bob
	service.IsService = true
	if _, err := a.Begin(service); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a service is answered %v", err)
	}
}
