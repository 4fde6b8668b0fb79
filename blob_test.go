package ubl_test

import (
	"bytes"
	"strings"
	"testing"

	"ubl"
)

// TestCheckFileName: a name is a name, and no way to somewhere.
func TestCheckFileName(t *testing.T) {
	for given, want := range map[string]string{
		"plan.pdf": "plan.pdf", " 会議 (2).txt ": "会議 (2).txt", "..a": "..a", "-rf": "-rf", `"quoted"; x=1`: `"quoted"; x=1`,
		strings.Repeat("x", 255): strings.Repeat("x", 255),
	} {
		if got, err := ubl.CheckFileName(given); got != want || err != nil {
			t.Errorf("%q is kept as %q, %v", given, got, err)
		}
	}
	for _, given := range []string{
		"", " ", ".", "..", "a/b", `a\b`, "/etc/passwd", `..\..\x`, "a\x00b", "a\r\nContent-Type: text/html", "a\u202efdp.exe", "a\u200bb",
		"a\xff", strings.Repeat("x", 256), "\t",
	} {
		if got, err := ubl.CheckFileName(given); err == nil {
			t.Errorf("%q is kept as %q", given, got)
		} else if strings.Contains(err.Error(), "passwd") {
			t.Errorf("the refusal repeats what was sent: %v", err)
		}
	}
}

// TestCheckFileType: a type is kept in one spelling, and can't bring headers along.
func TestCheckFileType(t *testing.T) {
	for given, want := range map[string]string{
		"": ubl.UnknownType, "Text/Plain; Charset=UTF-8; x=y": "text/plain; charset=UTF-8", "image/svg+xml": "image/svg+xml",
		"text/html;charset=\"a b\"": `text/html; charset="a b"`,
	} {
		if got, err := ubl.CheckFileType(given); got != want || err != nil {
			t.Errorf("%q is kept as %q, %v", given, got, err)
		}
	}
	for _, given := range []string{"text", "text/", "/plain", "a/b/c", "text/plain\r\nX: y", "text/plain; charset", strings.Repeat("x", 100) + "/" + strings.Repeat("y", 100), "text/pl ain", "会/議"} {
		if got, err := ubl.CheckFileType(given); err == nil {
			t.Errorf("%q is kept as %q", given, got)
		}
	}
}

// TestBlobRefs: a key names its blob, and stands in the blob's range and in no other's.
func TestBlobRefs(t *testing.T) {
	a, b := ubl.BlobID(strings.Repeat("a", 64)), ubl.BlobID(strings.Repeat("a", 63)+"b")
	key := ubl.BlobRef(a, "w:x\x00f:1")
	if id, ok := ubl.ReferredBlob(key); id != a || !ok {
		t.Errorf("the key refers to %s, %t", id, ok)
	}
	within := func(from, to []byte) bool { return bytes.Compare(from, key) <= 0 && bytes.Compare(key, to) < 0 }
	if from, to := ubl.BlobRefs(a); !within(from, to) {
		t.Error("it isn't in its own range")
	}
	if from, to := ubl.BlobRefs(b); within(from, to) {
		t.Error("it is in another's range")
	}
	if from, to := ubl.AllBlobRefs(); !within(from, to) {
		t.Error("it isn't in the range of all")
	}
	for _, other := range [][]byte{nil, {'B'}, key[1:], key[:60], []byte("B" + strings.Repeat("g", 64) + "\x00x"), []byte("o" + string(a) + "\x00x")} {
		if _, ok := ubl.ReferredBlob(other); ok {
			t.Errorf("%q refers to a blob", other)
		}
	}
}
