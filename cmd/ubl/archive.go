package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"ubl"
	"ubl/durable"
)

// archiveFormat is the form of the folder that "ubl export --all" makes; docs/export.md
// describes it for those who read it with other programs.
const archiveFormat = "ubl.archive.v1"

// archive is a folder with all that its exporter may read of a tenant: messages, documents
// in every version, files with their contents, and the ledger. Each file is JSON, one value
// a line, as the REST API answers it. The manifest comes last: without one it isn't whole.
type archive struct {
	dir      string
	server   *client
	progress *progress // counts files
	silent   *progress // of one file
	manifest manifest
}

// manifest says what is in an archive.
type manifest struct {
	Format     string       `json:"format"`
	Version    string       `json:"program_version"`
	Source     string       `json:"source"` // the server
	TenantID   ubl.TenantID `json:"tenant_id"`
	ExportedBy ubl.UserID   `json:"exported_by"`
	ExportedAt ubl.Time     `json:"exported_at"`
	// Files are all others, by their path; Lines is how many values a JSON file has.
	Files []archived `json:"files"`
	// Left are places that exist and that the exporter may not read, with the reason.
	Left []leftOut `json:"left_out"`
}

type archived struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Lines  int    `json:"lines,omitempty"`
}

type leftOut struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// archive makes the folder, which must not exist yet.
func (c *exportCmd) archive(ctx context.Context, p *program, g *progress) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var me myself
	if err := server.call(ctx, "GET", "/api/whoami", nil, &me); err != nil {
		return err
	}
	if c.Tenant != "" && ubl.TenantID(c.Tenant) != me.TenantID {
		return fmt.Errorf("the token belongs to %s, which is not the tenant asked for", clean(string(me.TenantID)))
	}
	if err := os.Mkdir(c.All, 0o700); err != nil {
		return thenDo(err, "name a folder that doesn't exist yet")
	}
	a := &archive{dir: c.All, server: server, progress: g, silent: p.progress("", "", true), manifest: manifest{
		Format: archiveFormat, Version: version(), Source: server.base, TenantID: me.TenantID, ExportedBy: me.Identity.UserID,
		ExportedAt: ubl.TimeOf(p.now()), Files: []archived{}, Left: []leftOut{},
	}}
	for _, part := range []func(context.Context) error{a.tenant, a.rooms, a.containers, a.ledger} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if err := a.finish(); err != nil {
		return err
	}
	for _, left := range a.manifest.Left {
		fmt.Fprintf(p.err, "left out: %s (%s)\n", clean(left.ID), clean(left.Why))
	}
	fmt.Fprintf(p.out, "%s of %s in %s\n", plural(len(a.manifest.Files), "file"), clean(string(me.TenantID)), c.All)
	return nil
}

// lines is a file of JSON values that is being written.
type lines struct {
	path string
	f    *os.File
	w    *bufio.Writer
	hash hash.Hash
	n    int
	size int64
}

// create begins a file below the folder.
func (a *archive) create(path string) (*lines, error) {
	full := filepath.Join(a.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	l := &lines{path: path, f: f, hash: sha256.New()}
	l.w = bufio.NewWriterSize(io.MultiWriter(f, l.hash), 64<<10)
	return l, nil
}

// add writes values, one a line.
func (l *lines) add(values ...json.RawMessage) error {
	for _, v := range values {
		if _, err := fmt.Fprintf(l, "%s\n", v); err != nil {
			return err
		}
	}
	return nil
}

// Write writes what comes as lines already.
func (l *lines) Write(b []byte) (int, error) {
	n, err := l.w.Write(b)
	l.size += int64(n)
	l.n += bytes.Count(b[:n], []byte("\n"))
	return n, err
}

// close ends a file and puts it into the manifest; err is what came before.
func (a *archive) close(l *lines, err error) error {
	if err = errors.Join(err, l.w.Flush(), l.f.Sync(), l.f.Close()); err != nil {
		return err
	}
	a.manifest.Files = append(a.manifest.Files, archived{l.path, l.size, hex.EncodeToString(l.hash.Sum(nil)), l.n})
	a.progress.at(int64(len(a.manifest.Files)), unknown)
	return nil
}

// write writes a whole file of values.
func (a *archive) write(path string, values ...json.RawMessage) error {
	l, err := a.create(path)
	if err != nil {
		return err
	}
	return a.close(l, l.add(values...))
}

// get reads a member of an answer; left says that the exporter may not read it, and that
// this is on the list.
func (a *archive) get(ctx context.Context, id, path, member string) (value json.RawMessage, left bool, err error) {
	var answer map[string]json.RawMessage
	err = a.server.call(ctx, "GET", path, nil, &answer)
	left = a.leave(id, &err)
	return answer[member], left, err
}

// leave puts what may not be read on the list, and takes the error away.
func (a *archive) leave(id string, err *error) bool {
	refusal, ok := errors.AsType[*apiError](*err)
	if !ok {
		return false
	}
	switch refusal.body.Error.Code {
	case ubl.CodeForbidden, ubl.CodeNotAMember, ubl.CodeNotFound:
		a.manifest.Left = append(a.manifest.Left, leftOut{id, refusal.body.Error.Message})
		*err = nil
		return true
	}
	return false
}

// tenant writes the tenant itself, and who is in it.
func (a *archive) tenant(ctx context.Context) error {
	id := string(a.manifest.TenantID)
	tenant, left, err := a.get(ctx, id, "/api/tenant", "tenant")
	if err == nil && !left {
		err = a.write("tenant.json", tenant)
	}
	if err != nil {
		return err
	}
	now, former, err := a.server.members(ctx)
	if a.leave(id, &err) || err != nil {
		return err
	}
	return errors.Join(a.write("members.jsonl", now...), a.write("former-members.jsonl", former...))
}

// rooms writes each room that the exporter is in, with its members and its whole timeline.
func (a *archive) rooms(ctx context.Context) error {
	list, err := a.server.list(ctx, "/api/rooms?details=1", "rooms")
	if err != nil {
		return err
	}
	var rooms []json.RawMessage
	for _, raw := range list {
		r, err := formed[listedRoom]("a room", raw)
		if err != nil {
			return err
		}
		if !r.Member {
			a.manifest.Left = append(a.manifest.Left, leftOut{string(r.RoomID), "the exporter is not in this room"})
			continue
		}
		if !r.RoomID.Valid() {
			return errors.New("the server sent a room of another form")
		}
		room, left, err := a.place(ctx, string(r.RoomID), "/api/rooms/", "room")
		if err == nil && !left {
			rooms = append(rooms, room)
			err = a.timeline(ctx, r.RoomID)
		}
		if err != nil {
			return err
		}
	}
	return a.write("rooms.jsonl", rooms...)
}

// place is a room or a container with its members.
func (a *archive) place(ctx context.Context, id, below, member string) (json.RawMessage, bool, error) {
	path := below + url.PathEscape(id)
	value, left, err := a.get(ctx, id, path, member)
	if err != nil || left {
		return nil, left, err
	}
	members, left, err := a.get(ctx, id, path+"/members", "members")
	if err != nil || left {
		return nil, left, err
	}
	both, err := json.Marshal(map[string]json.RawMessage{member: value, "members": members})
	return both, false, err
}

// attached keeps the contents of the files that a message carries. Those that an edit has taken away
// since are named among what was left out.
func (a *archive) attached(ctx context.Context, room ubl.RoomID, raw json.RawMessage) error {
	e, err := formed[ubl.Entry]("an entry", raw)
	if err != nil || e.Type != ubl.EntryMessage {
		return err
	}
	for _, f := range e.Attachments {
		err := a.blob(ctx, "/api/rooms/"+url.PathEscape(string(room))+"/files/", ubl.File{FileID: f.FileID, SHA256: f.SHA256, Bytes: f.Bytes})
		if err != nil {
			return err
		}
	}
	return nil
}

// timeline writes a room's entries, the oldest first.
func (a *archive) timeline(ctx context.Context, room ubl.RoomID) error {
	l, err := a.create("rooms/" + strings.TrimPrefix(string(room), "r:") + ".jsonl")
	if err != nil {
		return err
	}
	for from := int64(1); from > 0 && err == nil; {
		var page struct {
			Entries    []json.RawMessage `json:"entries"`
			NextCursor *int64            `json:"next_cursor"`
		}
		path := fmt.Sprintf("/api/rooms/%s/entries?limit=%d&from=%d", room, historyPage, from)
		err = a.server.call(ctx, "GET", path, nil, &page)
		if a.leave(string(room), &err) || err != nil {
			break
		}
		err = l.add(page.Entries...)
		for _, raw := range page.Entries {
			if err == nil {
				err = a.attached(ctx, room, raw)
			}
		}
		from = 0
		if page.NextCursor != nil {
			from = *page.NextCursor
		}
	}
	return a.close(l, err)
}

// ledger writes the ledger last, with the receipts of all that was looked at.
func (a *archive) ledger(ctx context.Context) error {
	l, err := a.create("ledger.ndjson")
	if err != nil {
		return err
	}
	return a.close(l, a.server.ledger(ctx, l, a.manifest.TenantID, a.silent))
}

// finish writes the manifest, which makes the archive whole.
func (a *archive) finish() error {
	data, err := json.MarshalIndent(a.manifest, "", "  ")
	if err == nil {
		err = durable.Replace(filepath.Join(a.dir, "manifest.json"), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("couldn't write the manifest: %w", err)
	}
	return nil
}
