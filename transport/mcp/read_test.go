package mcp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/mcp"
)

// contents are blobs in memory.
type contents map[ubl.BlobID][]byte

type closing struct{ *bytes.Reader }

func (closing) Close() error { return nil }

// Open implements [mcp.Blobs].
func (c contents) Open(_ context.Context, _ ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	data, ok := c[id]
	if !ok {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such blob")
	}
	return closing{bytes.NewReader(data)}, nil
}

// withFiles is a world whose w:general may have files, and where their contents go.
func withFiles(t *testing.T, change ...func(*mcp.Options)) (*world, contents) {
	blobs := contents{}
	return newWorld(t, append(change, func(o *mcp.Options) { o.Blobs = blobs })...), blobs
}

// put puts a file into w:general and answers its id.
func (w *world) put(t *testing.T, blobs contents, name, kind string, data []byte) ubl.FileID {
	t.Helper()
	id := ubl.BlobIDOf(sha256.Sum256(data))
	blobs[id] = data
	put := ubl.PutFile{Request: w.Request(ana), Name: name, Type: kind, Blob: id, Bytes: int64(len(data))}
	return harness.Must[*ubl.FileResult](w.House, ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace), put).File.FileID
}

// readAnswer is what office.file.read answers.
type readAnswer struct {
	Name, Text, URI string
	Bytes, Offset   int64
	Next            *int64 `json:"next_offset"`
	Type            string `json:"content_type"`
	Receipt         struct{ Seq int64 }
}

func (w *world) readFile(t *testing.T, who string, file ubl.FileID, more string) (answer, readAnswer) {
	t.Helper()
	var got readAnswer
	a := w.use(t, "/mcp", who, "test", mcp.ToolReadFile, `{"workspace_id":"w:general","file_id":"`+string(file)+`"`+more+`}`)
	if !strings.Contains(a.body, `"isError":true`) {
		structured(t, a, &got)
	}
	return a, got
}

func TestReadFile(t *testing.T) {
	w, blobs := withFiles(t)
	text := strings.Repeat("Grüße, 世界 und 🙂! ", 3000) // characters of 1 to 4 bytes
	long := w.put(t, blobs, "letter.txt", "text/plain; charset=utf-8", []byte(text))
	read, offset := "", int64(0)
	for pieces := 0; ; pieces++ {
		_, got := w.readFile(t, "bob", long, `,"limit":1001,"offset":`+string(encode(t, offset)))
		if got.Offset != offset || len(got.Text) > 1001 || len(got.Text) == 0 || got.Bytes != int64(len(text)) || got.Receipt.Seq == 0 {
			t.Fatalf("at %d: %+v", offset, got)
		}
		read += got.Text
		if got.Next == nil {
			break
		}
		offset = *got.Next
	}
	if read != text {
		t.Errorf("its pieces are another text, of %d bytes for %d", len(read), len(text))
	}
	if _, got := w.readFile(t, "bob", long, ``); len(got.Text) > 16<<10 || len(got.Text) < 16<<10-3 {
		t.Errorf("a piece is of %d bytes", len(got.Text))
	}
	if _, got := w.readFile(t, "bob", long, `,"offset":3`); got.Offset != 4 || !strings.HasPrefix(got.Text, "ße") { // amid ü
		t.Errorf("amid a character: %d, %.20s", got.Offset, got.Text)
	}
	if _, got := w.readFile(t, "bob", w.put(t, blobs, "empty.txt", "text/plain", nil), ``); got.Text != "" || got.Next != nil || got.Bytes != 0 {
		t.Errorf("an empty file: %+v", got)
	}
	if _, got := w.readFile(t, "bob", w.put(t, blobs, "table", "application/octet-stream", []byte("a,b\n1,2\n")), ``); got.Text != "a,b\n1,2\n" {
		t.Errorf("a text of a type that nobody said: %+v", got)
	}
}

// TestReadPictureAndOthers: a picture is shown, and what is neither that nor text is linked.
func TestReadPictureAndOthers(t *testing.T) {
	w, blobs := withFiles(t)
	png := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0, 255}, 500)...)
	large := append(bytes.Clone(png), make([]byte, 1<<20)...)
	for _, c := range []struct {
		name, kind string
		data       []byte
		want       string // the item that is shown beside
	}{
		{"logo.png", "image/png", png, `{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString(png) + `"}`},
		{"wall.png", "image/png", large, `"resource_link"`},
		{"plan.pdf", "application/pdf", []byte("%PDF-1.7\n\xff\xfe"), `"mimeType":"application/pdf"`},
		{"nulls.txt", "text/plain", []byte("a\x00b"), `"resource_link"`},
		{"drawing.svg", "image/svg+xml", []byte("<svg/>"), ``},
	} {
		id := w.put(t, blobs, c.name, c.kind, c.data)
		a, got := w.readFile(t, "bob", id, ``)
		if got.Name != c.name || got.Type != c.kind || got.Bytes != int64(len(c.data)) || (c.want == "") != (got.Text != "") {
			t.Errorf("%s: %+v", c.name, got)
		}
		var result struct {
			Result struct{ Content []json.RawMessage }
		}
		if err := json.Unmarshal([]byte(a.body), &result); err != nil {
			t.Fatal(err)
		}
		items := result.Result.Content
		if c.want == "" {
			if len(items) != 1 {
				t.Errorf("%s shows %s", c.name, items)
			}
			continue
		}
		if len(items) != 2 || !strings.Contains(string(items[0]), c.want) || !strings.Contains(string(items[1]), `\"name\":\"`+c.name) {
			t.Errorf("%s shows %.300s, want %s", c.name, items, c.want)
		}
		if strings.Contains(c.want, "link") && (got.URI != "ubl://files/w:general/"+string(id) || !strings.Contains(string(items[0]), got.URI)) {
			t.Errorf("%s is linked as %s by %s", c.name, got.URI, items[0])
		}
	}
}

// TestReadFileIsGuarded: by the tool's record and that of office.file.get, by mandates, tenants and the workspace.
func TestReadFileIsGuarded(t *testing.T) {
	w, blobs := withFiles(t)
	id := w.put(t, blobs, "a.txt", "text/plain", []byte("hello"))
	refused := func(name, who, code string) {
		t.Helper()
		if a, _ := w.readFile(t, who, id, ``); !strings.Contains(a.body, `"code":"`+code+`"`) || strings.Contains(a.body, "hello") {
			t.Errorf("%s: answered %s", name, a.body)
		}
	}
	refused("another tenant", "eve", "not_found")
	if a := w.do(t, "POST", w.url+"/mcp", "nobody", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"office.file.read","arguments":{"workspace_id":"w:general","file_id":"`+string(id)+`"}}}`); a.status != 401 {
		t.Errorf("without a credential: %d %s", a.status, a.body)
	}
	for _, tool := range []string{mcp.ToolReadFile, "office.file.get"} {
		w.setTool(tool, false)
		refused("closed by "+tool, "bob", "forbidden")
		w.setTool(tool, true)
	}
	for _, m := range []*ubl.Mandate{{Tools: []string{"messenger.*"}}, {Places: []string{"r:general"}}} {
		w.mandate = m
		if a, _ := w.readFile(t, "bob", id, ``); !strings.Contains(a.body, `"isError":true`) || strings.Contains(a.body, "hello") {
			t.Errorf("with %+v: answered %s", m, a.body)
		}
	}
	w.mandate = &ubl.Mandate{Tools: []string{"office.file.*"}, Places: []string{"w:general"}, ReadOnly: true}
	a, got := w.readFile(t, "bob", id, ``)
	if got.Text != "hello" {
		t.Fatalf("with a mandate for it: %s", a.body)
	}
	w.mandate = nil
	receipt := w.use(t, "/mcp", "bob", "test", "receipt.get", `{"seq":`+string(encode(t, got.Receipt.Seq))+`}`)
	if !strings.Contains(receipt.body, `"did":"office.file.get"`) || strings.Contains(receipt.body, "a.txt") {
		t.Errorf("the receipt is %s", receipt.body)
	}
}

func TestReadFileRefuses(t *testing.T) {
	w, blobs := withFiles(t)
	id := string(w.put(t, blobs, "a.txt", "text/plain", []byte("hello")))
	for args, place := range map[string]string{
		`{}`: "workspace_id", `{"workspace_id":"w:general"}`: "file_id", `{"workspace_id":"general","file_id":"` + id + `"}`: "workspace_id",
		`{"workspace_id":"w:general","file_id":"` + id + `","offset":-1}`:   "offset",
		`{"workspace_id":"w:general","file_id":"` + id + `","offset":6}`:    "offset",
		`{"workspace_id":"w:general","file_id":"` + id + `","limit":3}`:     "limit",
		`{"workspace_id":"w:general","file_id":"` + id + `","limit":65537}`: "limit",
		`{"workspace_id":"w:general","file_id":"` + id + `","page":2}`:      "page",
	} {
		if a := w.use(t, "/mcp", "ana", "test", mcp.ToolReadFile, args); !strings.Contains(a.body, `"code":"validation_error"`) || !strings.Contains(a.body, place) {
			t.Errorf("%s is answered %s", args, a.body)
		}
	}
	if a, _ := w.readFile(t, "ana", "f:nothing", ``); !strings.Contains(a.body, `"code":"not_found"`) {
		t.Errorf("a file that isn't there: %s", a.body)
	}
	clear(blobs)
	a := w.use(t, "/mcp", "ana", "test", mcp.ToolReadFile, `{"workspace_id":"w:general","file_id":"`+id+`"}`)
	if !strings.Contains(a.body, "the content of a file is missing") {
		t.Errorf("a content that is missing: %s", a.body)
	}
}
