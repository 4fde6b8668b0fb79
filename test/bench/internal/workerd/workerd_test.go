package workerd

import "testing"

func TestAddress(t *testing.T) {
	host, ok := Address(`{"event":"listen","socket":"http","port":33655}`)
	if !ok || host != "127.0.0.1:33655" {
		t.Errorf("got %q, %v", host, ok)
	}
	if _, ok := Address("service main: a warning"); ok {
		t.Error("a warning was taken for an address")
	}
}

func TestPinned(t *testing.T) {
	if version, err := pinned(); err != nil || version == "" || version[0] < '0' || version[0] > '9' {
		t.Errorf("the version is %q, %v: it must be exact", version, err)
	}
}
