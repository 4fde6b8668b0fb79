package preview

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"ubl/media"
)

const (
	maxImage  = 2 << 20
	maxPixels = 16_000_000
	// smallest is the side below which a picture says nothing: counters of visits have one pixel.
	smallest = 32
	// imageSide is the longer side of what is shown.
	imageSide = 360
)

// Image is a small picture, encoded here: it is what its type says, and has no metadata.
type Image struct {
	Type          string // image/jpeg, or image/png where something shines through
	Width, Height int
	Data          []byte
	Hash          string // tells one from another
}

// image fetches a picture; nil where there is none to show.
func (p *Previews) image(ctx context.Context, at string) *Image {
	resp, err := p.get(ctx, at, "image/*")
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	return p.picture(ctx, resp)
}

// picture makes a small picture of an answer. One is made at a time: decoding takes memory.
func (p *Previews) picture(ctx context.Context, resp *http.Response) *Image {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxImage+1))
	if err != nil || len(data) > maxImage {
		return nil
	}
	from, err := media.Look(bytes.NewReader(data))
	if err != nil || !from.Thumbnail || from.Width*from.Height > maxPixels || max(from.Width, from.Height) < smallest {
		return nil
	}
	select {
	case p.decoding <- struct{}{}:
		defer func() { <-p.decoding }()
	case <-ctx.Done():
		return nil
	}
	made, err := media.Make(bytes.NewReader(data), imageSide)
	if err != nil {
		return nil
	}
	size, err := media.Look(bytes.NewReader(made.Data))
	if err != nil {
		return nil
	}
	hash := sha256.Sum256(made.Data)
	return &Image{Type: made.Type, Width: size.Width, Height: size.Height, Data: made.Data, Hash: hex.EncodeToString(hash[:])}
}
