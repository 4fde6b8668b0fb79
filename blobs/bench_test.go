package blobs_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"ubl"
)

// BenchmarkUpload takes 256 MiB in, hashed, synced and kept.
func BenchmarkUpload(b *testing.B) {
	const size = 256 << 20
	w := open(b, b.TempDir())
	w.every = 0
	w.start(b)
	block := content(1 << 20)
	b.SetBytes(size)
	for b.Loop() {
		id := w.begin(b, size)
		from := io.MultiReader(blocks(block, size)...)
		if _, err := w.uploads.Append(context.Background(), ana, id, 0, ubl.Source{Reader: from}); err != nil {
			b.Fatal(err)
		}
		if _, err := w.uploads.Finish(context.Background(), ana, id); err != nil {
			b.Fatal(err)
		}
	}
}

func blocks(block []byte, size int) (list []io.Reader) {
	for range size / len(block) {
		list = append(list, bytes.NewReader(block))
	}
	return list
}
