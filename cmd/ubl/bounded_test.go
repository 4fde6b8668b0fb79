package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestBounded: a value of an export that goes on and on is refused, and not read whole.
func TestBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"name":"`), forever('a'))
	got, err := io.ReadAll(&bounded{Reader: endless, left: 1000})
	if !errors.Is(err, errTooLong) || len(got) != 1000 {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

type forever byte

func (f forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}
