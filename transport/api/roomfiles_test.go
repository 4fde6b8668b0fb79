package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"mime"
	"net/http"
	"strings"
	"testing"

	"ubl"
)

const roomFiles = "/api/rooms/r:general"

// begun is the id of an upload that was answered.
func begunID(t *testing.T, body []byte) ubl.UploadID {
	t.Helper()
	var begun struct{ Upload ubl.Upload }
	if err := json.Unmarshal(body, &begun); err != nil || !begun.Upload.UploadID.Valid() {
		t.Fatalf("begun is %s, %v", body, err)
	}
	return begun.Upload.UploadID
}

// noting keeps the newest command of each kind.
type noting struct {
	ubl.Asker
	sent ubl.SendMessage
	edit ubl.PostEntry
}

func (n *noting) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	switch c := cmd.(type) {
	case ubl.SendMessage:
		n.sent = c
	case ubl.PostEntry:
		n.edit = c
	}
	return n.Asker.Ask(ctx, to, cmd)
}

// sentFiles are those of the message that the room was asked to send.
func (s *server) sentFiles(t *testing.T, body string) []ubl.Attachment {
	t.Helper()
	asked := &noting{Asker: s.actors}
	s.api.Asker = asked
	w := s.do("POST", roomFiles+"/messages", body)
	if w.Code != http.StatusCreated {
		t.Fatalf("sent: %d %s", w.Code, w.Body)
	}
	return asked.sent.Attachments
}

// TestAttach is the way of a file: uploaded in parts or at once, looked into by the server, and sent;
// a file of another message is sent on.
func TestAttach(t *testing.T) {
	s := newServer(t)
	c := newContract(t, s)
	w := s.do("POST", roomFiles+"/uploads", fmt.Sprintf(`{"name":" holiday.exe ","bytes":%d}`, len(imageContent)))
	c.check(t, s, "POST", "/api/rooms/{roomId}/uploads", w)
	target, first := w.Header().Get("Location"), begunID(t, w.Body.Bytes())
	if early := s.do("POST", roomFiles+"/messages", `{"type":"text","body":{"text":""},"attachments":["`+string(first)+`"]}`); early.Code != http.StatusConflict {
		t.Errorf("sent too early: %d %s", early.Code, early.Body)
	}
	for _, part := range []struct{ from, to int }{{0, 10}, {10, len(imageContent)}} {
		if w := s.bring(target, fmt.Sprint(part.from), partialType, imageContent[part.from:part.to]); w.Code != http.StatusNoContent {
			t.Fatalf("brought: %d %s", w.Code, w.Body)
		}
	}
	w = s.do("POST", roomFiles+"/uploads", `{"name":"page.png","base64":"`+base64.StdEncoding.EncodeToString([]byte("<html><script>alert(1)</script>"))+`"}`)
	second := begunID(t, w.Body.Bytes())
	body := `{"type":"text","body":{"text":""},"attachments":["` + string(first) + `","` + string(second) + `","r:plans/f:1"]}`
	for range 2 { // a repetition names the same files
		got := s.sentFiles(t, body)
		if len(got) != 3 || got[0].Name != "holiday.exe" || got[0].Type != "image/png" || got[0].Width != 4 || got[0].Height != 3 || !got[0].Thumbnail || got[0].SHA256 != roomFile("f:1").SHA256 {
			t.Fatalf("sent are %+v", got)
		}
		if got[1].Type != "text/html" || got[1].Thumbnail || got[2].Name != "sea.png" || got[2].FileID != "" {
			t.Errorf("sent are %+v", got)
		}
	}
	for what, test := range map[string]struct {
		at, body string
		code     ubl.Code
	}{
		"elsewhere":            {"/api/rooms/r:other/messages", `{"type":"text","body":{"text":"x"},"attachments":["` + string(first) + `"]}`, ubl.CodeConflict},
		"into a workspace":     {"/api/workspaces/w:general/files", `{"upload_id":"` + string(first) + `"}`, ubl.CodeConflict},
		"never begun":          {roomFiles + "/messages", `{"type":"text","body":{"text":"x"},"attachments":["` + string(neverID) + `"]}`, ubl.CodeNotFound},
		"of a workspace":       {roomFiles + "/messages", `{"type":"text","body":{"text":"x"},"attachments":["` + string(uploadID) + `"]}`, ubl.CodeConflict},
		"a path":               {roomFiles + "/messages", `{"type":"text","body":{"text":"x"},"attachments":["r:a/../f:s3cr3t"]}`, ubl.CodeValidation},
		"a hash":               {roomFiles + "/messages", `{"type":"text","body":{"text":"x"},"attachments":["` + string(file("f:1").SHA256) + `"]}`, ubl.CodeValidation},
		"eleven":               {roomFiles + "/messages", `{"type":"text","body":{"text":"x"},"attachments":[` + strings.Repeat(`"r:plans/f:1",`, 10) + `"r:plans/f:1"]}`, ubl.CodeValidation},
		"no text and no file":  {roomFiles + "/messages", `{"type":"text","body":{"text":""},"attachments":[]}`, ubl.CodeValidation},
		"a length and content": {roomFiles + "/uploads", `{"name":"x","bytes":1,"text":"x"}`, ubl.CodeValidation},
		"neither":              {roomFiles + "/uploads", `{"name":"x"}`, ubl.CodeValidation},
		"a name of a path":     {roomFiles + "/uploads", `{"name":"../s3cr3t","bytes":1}`, ubl.CodeValidation},
	} {
		if w := s.do("POST", test.at, test.body); codeIn(t, w) != test.code || strings.Contains(w.Body.String(), "s3cr3t") {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
}

// TestEditLeavesFiles: an edit says which files its message keeps, or nothing of them.
func TestEditLeavesFiles(t *testing.T) {
	s := newServer(t)
	for body, want := range map[string]string{`{"text":"x"}`: "nil", `{"text":"x","attachments":[]}`: "[]", `{"text":"x","attachments":["f:1"]}`: "[f:1]"} {
		asked := &noting{Asker: s.actors}
		s.api.Asker = asked
		if w := s.do("POST", roomFiles+"/entries/"+string(saidID)+"/edits", body); w.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", body, w.Code, w.Body)
		}
		got := "nil"
		if asked.edit.Keeps != nil {
			got = fmt.Sprint(asked.edit.Keeps.Files)
		}
		if got != want {
			t.Errorf("%s keeps %s, want %s", body, got, want)
		}
	}
}

// TestRoomContentIsHarmless: a browser shows what runs nothing, and saves all else.
func TestRoomContentIsHarmless(t *testing.T) {
	s := newServer(t)
	for id, want := range map[string]struct{ kind, how, name string }{
		"f:1": {"image/png", "inline", "sea.png"}, "f:html": {ubl.UnknownType, "attachment", "plan.txt"}, "f:svg": {ubl.UnknownType, "attachment", "plan.txt"},
		"f:js": {ubl.UnknownType, "attachment", "plan.txt"}, "f:xml": {ubl.UnknownType, "attachment", "plan.txt"}, "f:none": {ubl.UnknownType, "attachment", "plan.txt"},
		"f:quote": {"text/plain; charset=utf-8", "attachment", `a";x="b.txt`}, "f:wide": {"text/plain; charset=utf-8", "attachment", "会議 naïve.txt"},
	} {
		w := s.do("GET", roomFiles+"/files/"+id+"/content", "")
		h := w.Header()
		how, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
		if w.Code != http.StatusOK || h.Get("Content-Type") != want.kind || how != want.how || params["filename"] != want.name || err != nil {
			t.Errorf("%s: %d with %v", id, w.Code, h)
		}
		csp := h.Get("Content-Security-Policy")
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(csp, "sandbox") || strings.Contains(csp, "allow-scripts") || !strings.Contains(csp, "default-src 'none'") || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", id, h)
		}
	}
	for _, part := range []struct {
		header []string
		status int
		body   []byte
	}{
		{[]string{"Range", "bytes=1-3"}, 206, imageContent[1:4]}, {[]string{"Range", "bytes=1-3,5-6"}, 200, imageContent},
		{[]string{"If-None-Match", `"` + string(roomFile("f:1").SHA256) + `"`}, 304, nil},
	} {
		if w := s.do("GET", roomFiles+"/files/f:1/content", "", part.header...); w.Code != part.status || !bytes.Equal(w.Body.Bytes(), part.body) {
			t.Errorf("%v: %d %q", part.header, w.Code, w.Body)
		}
	}
}

// TestThumbnailServed in two sizes, with a version; none of what is no image.
func TestThumbnailServed(t *testing.T) {
	s := newServer(t)
	for _, size := range []string{"", "?size=small", "?size=large"} {
		w := s.do("GET", roomFiles+"/files/f:1/thumbnail"+size, "")
		if c, kind, err := image.DecodeConfig(w.Body); w.Code != http.StatusOK || err != nil || c.Width != 4 || c.Height != 3 || w.Header().Get("Content-Type") != "image/"+kind {
			t.Errorf("%q: %d %v %+v %v", size, w.Code, w.Header(), c, err)
		}
		if again := s.do("GET", roomFiles+"/files/f:1/thumbnail"+size, "", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%q: who has it gets %d", size, again.Code)
		}
	}
	for path, code := range map[string]ubl.Code{"/files/f:html/thumbnail": ubl.CodeNotFound, "/files/f:1/thumbnail?size=huge": ubl.CodeValidation} {
		if w := s.do("GET", roomFiles+path, ""); codeIn(t, w) != code {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
