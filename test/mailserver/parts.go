package mailserver

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
)

// parts takes a mail of several forms apart.
func parts(t testing.TB, contentType, body string) map[string]string {
	t.Helper()
	form, params, err := mime.ParseMediaType(contentType)
	if err != nil || form != "multipart/alternative" {
		t.Fatalf("a mail is %q, %v", contentType, err)
	}
	list := map[string]string{}
	reader := multipart.NewReader(strings.NewReader(body), params["boundary"]) // which undoes quoted-printable
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		of, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		list[of] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}
