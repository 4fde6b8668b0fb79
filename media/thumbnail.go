package media

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/maypok86/otter/v2"
	"golang.org/x/image/draw"
	"golang.org/x/sync/singleflight"

	"ubl"
)

// Size is that of a thumbnail.
type Size string

// Sizes of thumbnails: the longer side is so many pixels at most.
const (
	Small Size = "small" // 360: in a list of messages
	Large Size = "large" // 1440: on a screen
)

var sides = map[Size]int{Small: 360, Large: 1440}

// Valid reports whether there is such a size.
func (s Size) Valid() bool { return sides[s] > 0 }

const (
	// workers is how many images are decoded at once.
	workers = 2
	// cacheBytes is how much memory finished thumbnails take.
	cacheBytes = 32 << 20
	quality    = 82
)

// Thumbnail is a small picture.
type Thumbnail struct {
	Type string // image/jpeg, or image/png where something shines through
	Data []byte
}

// Thumbnails makes small pictures and keeps the newest in memory. Safe for concurrent use.
type Thumbnails struct {
	made    *otter.Cache[thumbnailKey, *Thumbnail]
	making  singleflight.Group
	workers chan struct{}
}

// thumbnailKey names one: each tenant has its own.
type thumbnailKey struct {
	tenant ubl.TenantID
	blob   ubl.BlobID
	size   Size
}

// NewThumbnails has none yet.
func NewThumbnails() *Thumbnails {
	return &Thumbnails{
		workers: make(chan struct{}, workers),
		made: otter.Must(&otter.Options[thumbnailKey, *Thumbnail]{
			MaximumWeight: cacheBytes,
			Weigher:       func(_ thumbnailKey, v *Thumbnail) uint32 { return uint32(len(v.Data)) + 256 },
		}),
	}
}

// Get is a thumbnail of a blob, whose content open opens. Who asks has been allowed to read it.
// Not_found where there can be none.
func (t *Thumbnails) Get(ctx context.Context, tenant ubl.TenantID, blob ubl.BlobID, size Size, open func(context.Context) (io.ReadSeekCloser, error)) (*Thumbnail, error) {
	key := thumbnailKey{tenant, blob, size}
	if done, ok := t.made.GetIfPresent(key); ok {
		return done, nil
	}
	// Others may wait for the same one, so it outlives this request.
	result := t.making.DoChan(fmt.Sprint(key), func() (any, error) { return t.make(context.WithoutCancel(ctx), key, open) })
	select {
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*Thumbnail), nil
	case <-ctx.Done():
		return nil, ubl.AsError(ctx.Err())
	}
}

func (t *Thumbnails) make(ctx context.Context, key thumbnailKey, open func(context.Context) (io.ReadSeekCloser, error)) (*Thumbnail, error) {
	t.workers <- struct{}{}
	defer func() { <-t.workers }()
	content, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	made, err := Make(content, sides[key.size])
	if err != nil {
		return nil, err
	}
	t.made.Set(key, made)
	return made, nil
}

func errNone() error { return ubl.Errorf(ubl.CodeNotFound, "there is no thumbnail of this file") }

// Make makes a thumbnail of an image whose longer side is at most so many pixels, and no larger
// than the image. Not_found where the content is no such image, or one of too many pixels.
func Make(r io.ReadSeeker, side int) (made *Thumbnail, err error) {
	defer func() {
		if recover() != nil { // a decoder's: what it was given is hostile
			made, err = nil, errNone()
		}
	}()
	seen, err := Look(r)
	if err != nil {
		return nil, err
	}
	if !seen.Thumbnail {
		return nil, errNone()
	}
	_, turn, err := measure(r, seen.Type)
	if err == nil {
		_, err = r.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't read a content: %w", err)
	}
	from, _, err := image.Decode(bufio.NewReader(&bounded{r: io.LimitReader(r, maxImageBytes)}))
	if err != nil {
		return nil, errNone()
	}
	return encode(turn.upright(smaller(from, side)))
}

const (
	// maxImageBytes is how much of a content is decoded at most.
	maxImageBytes = 64 << 20
	// maxScans bounds the passes of a progressive JPEG: each takes as long as the whole image, and
	// a few bytes ask for one. Cameras make ten.
	maxScans = 64
)

// bounded ends a content with too many scans.
type bounded struct {
	r     io.Reader
	last  byte
	scans int
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	for _, c := range p[:n] {
		if b.last == 0xff && c == markerScan {
			b.scans++
		}
		b.last = c
	}
	if b.scans > maxScans {
		return 0, errNone()
	}
	return n, err
}

// smaller fits an image into a square.
func smaller(from image.Image, side int) *image.NRGBA {
	b := from.Bounds()
	w, h := b.Dx(), b.Dy()
	if longer := max(w, h); longer > side {
		w, h = max(1, w*side/longer), max(1, h*side/longer)
	}
	to := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(to, to.Rect, from, b, draw.Src, nil)
	return to
}

// encode writes pixels and nothing else.
func encode(from *image.NRGBA) (*Thumbnail, error) {
	var out bytes.Buffer
	if from.Opaque() {
		err := jpeg.Encode(&out, from, &jpeg.Options{Quality: quality})
		return &Thumbnail{"image/jpeg", out.Bytes()}, err
	}
	err := png.Encode(&out, from)
	return &Thumbnail{"image/png", out.Bytes()}, err
}
