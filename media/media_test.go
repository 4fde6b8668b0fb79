package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ubl"
)

// halves is an image whose left half is black and whose right half is white.
func halves(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{A: 255}
			if x >= w/2 {
				c = color.NRGBA{255, 255, 255, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

func encoded(t testing.TB, encode func(io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asJPEG(t testing.TB, m image.Image) []byte {
	return encoded(t, func(w io.Writer) error { return jpeg.Encode(w, m, nil) })
}

func asPNG(t testing.TB, m image.Image) []byte {
	return encoded(t, func(w io.Writer) error { return png.Encode(w, m) })
}

// turned is a JPEG with an EXIF orientation, and words that nobody is to see.
func turned(t testing.TB, m image.Image, o uint16, order binary.ByteOrder) []byte {
	plain := asJPEG(t, m)
	tiff := []byte("MM\x00\x2a")
	if order == binary.ByteOrder(binary.LittleEndian) {
		tiff = []byte("II\x2a\x00")
	}
	tiff = append(tiff, make([]byte, 4+2+12+4)...)
	order.PutUint32(tiff[4:], 8)
	order.PutUint16(tiff[8:], 1)
	order.PutUint16(tiff[10:], tagOrientation)
	order.PutUint16(tiff[12:], 3)
	order.PutUint32(tiff[14:], 1)
	order.PutUint16(tiff[18:], o)
	segment := append(append([]byte("Exif\x00\x00"), tiff...), "taken at 52.5N 13.4E"...)
	out := append([]byte{0xff, markerStart, 0xff, markerExif}, binary.BigEndian.AppendUint16(nil, uint16(len(segment)+2))...)
	return append(append(out, segment...), plain[2:]...)
}

// TestLook: what a content is, its first bytes say.
func TestLook(t *testing.T) {
	riff := func(kind string) []byte { return append([]byte("RIFF\x24\x00\x00\x00"+kind), make([]byte, 40)...) }
	for what, test := range map[string]struct {
		content []byte
		want    Seen
	}{
		"nothing":            {nil, Seen{Type: ubl.UnknownType}},
		"bytes":              {[]byte{0, 1, 2, 3, 0xff, 0xfe, 0}, Seen{Type: ubl.UnknownType}},
		"text":               {[]byte("only words"), Seen{Type: "text/plain"}},
		"a PNG":              {asPNG(t, halves(8, 6)), Seen{"image/png", 8, 6, true}},
		"a JPEG":             {asJPEG(t, halves(8, 6)), Seen{"image/jpeg", 8, 6, true}},
		"a JPEG on its side": {turned(t, halves(8, 6), 6, binary.BigEndian), Seen{"image/jpeg", 6, 8, true}},
		"a GIF":              {encoded(t, func(w io.Writer) error { return gif.Encode(w, halves(8, 6), nil) }), Seen{"image/gif", 8, 6, true}},
		"a PDF":              {[]byte("%PDF-1.7\n"), Seen{Type: "application/pdf"}},
		"a page":             {[]byte("<!DOCTYPE html><script>alert(1)</script>"), Seen{Type: "text/html"}},
		"SVG":                {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), Seen{Type: "image/svg+xml"}},
		"a wave":             {riff("WAVE"), Seen{Type: "audio/wav"}},
		"half a PNG":         {asPNG(t, halves(8, 6))[:12], Seen{Type: "image/png"}},
		"a GIF that is HTML": {[]byte("GIF89a<script>alert(1)</script>"), Seen{"image/gif", 29500, 29283, false}},
		"a bomb":             {bomb(1<<19, 1<<19), Seen{"image/png", 1 << 19, 1 << 19, false}},
		"beyond all bounds":  {bomb(1<<30, 1<<30), Seen{Type: "image/png"}},
	} {
		got, err := Look(bytes.NewReader(test.content))
		if err != nil || got != test.want {
			t.Errorf("%s is %+v, %v; want %+v", what, got, err, test.want)
		}
	}
}

// bomb is a PNG whose header promises so many pixels.
func bomb(w, h uint32) []byte {
	var out bytes.Buffer
	_ = png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))) // into memory
	b := out.Bytes()
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// darkest says on which side of an image black is.
func darkest(m image.Image) string {
	b := m.Bounds()
	dark := func(x, y int) bool { r, _, _, _ := m.At(x, y).RGBA(); return r < 0x4000 }
	w, h := b.Dx(), b.Dy()
	for side, at := range map[string][2]int{"left": {w / 8, h / 2}, "right": {w - 1 - w/8, h / 2}, "top": {w / 2, h / 8}, "bottom": {w / 2, h - 1 - h/8}} {
		other := map[string][2]int{"left": {w - 1 - w/8, h / 2}, "right": {w / 8, h / 2}, "top": {w / 2, h - 1 - h/8}, "bottom": {w / 2, h / 8}}[side]
		if dark(at[0], at[1]) && !dark(other[0], other[1]) {
			return side
		}
	}
	return "nowhere"
}

// TestUpright: each of the orientations that EXIF knows, in both orders of bytes; and no
// metadata comes out.
func TestUpright(t *testing.T) {
	for o, want := range map[uint16]string{0: "left", 1: "left", 2: "right", 3: "right", 4: "left", 5: "top", 6: "top", 7: "bottom", 8: "bottom", 9: "left"} {
		for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
			made, err := Make(bytes.NewReader(turned(t, halves(64, 32), o, order)), 32)
			if err != nil {
				t.Fatal(err)
			}
			m, kind, err := image.Decode(bytes.NewReader(made.Data))
			if err != nil || kind != "jpeg" || darkest(m) != want || max(m.Bounds().Dx(), m.Bounds().Dy()) != 32 {
				t.Errorf("orientation %d: %s %v, black is %s, want %s; %v", o, kind, m.Bounds(), darkest(m), want, err)
			}
			if bytes.Contains(made.Data, []byte("Exif")) || bytes.Contains(made.Data, []byte("52.5N")) {
				t.Errorf("orientation %d: the thumbnail has metadata", o)
			}
		}
	}
}

// TestMake: sizes, what shines through, and what has no thumbnail.
func TestMake(t *testing.T) {
	clear := halves(100, 50)
	clear.SetNRGBA(0, 0, color.NRGBA{})
	for what, test := range map[string]struct {
		content    []byte
		kind       string
		wide, high int
	}{
		"wide": {asPNG(t, halves(100, 50)), "image/jpeg", 40, 20}, "small": {asPNG(t, halves(10, 5)), "image/jpeg", 10, 5},
		"clear": {asPNG(t, clear), "image/png", 40, 20}, "a line": {asPNG(t, halves(1000, 1)), "image/jpeg", 40, 1},
		"a GIF": {encoded(t, func(w io.Writer) error { return gif.Encode(w, halves(100, 50), nil) }), "image/jpeg", 40, 20},
	} {
		made, err := Make(bytes.NewReader(test.content), 40)
		if err != nil || made.Type != test.kind {
			t.Errorf("%s: %+v %v", what, made, err)
			continue
		}
		if c, _, err := image.DecodeConfig(bytes.NewReader(made.Data)); err != nil || c.Width != test.wide || c.Height != test.high {
			t.Errorf("%s is %d by %d, %v", what, c.Width, c.Height, err)
		}
	}
	whole := asJPEG(t, halves(64, 64))
	scans := append(bytes.Clone(whole[:len(whole)-2]), bytes.Repeat([]byte{0xff, markerScan}, maxScans+1)...)
	for what, content := range map[string][]byte{
		"nothing": nil, "text": []byte("text"), "SVG": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "a bomb": bomb(1<<19, 1<<19), "half a PNG": asPNG(t, halves(64, 64))[:60],
		"half a JPEG": whole[:len(whole)/2], "a GIF that is HTML": []byte("GIF89a<script>"), "scans without end": scans,
	} {
		if made, err := Make(bytes.NewReader(content), 40); ubl.CodeOf(err) != ubl.CodeNotFound && !(what == "half a JPEG" && err == nil) {
			t.Errorf("%s: %+v, %v", what, made, err)
		}
	}
}

type closing struct {
	io.ReadSeeker
}

func (closing) Close() error { return nil }

// TestThumbnailsOnce: who asks for the same at the same time waits for one, and later it is in memory;
// tenants and sizes are apart; a failure isn't remembered.
func TestThumbnailsOnce(t *testing.T) {
	thumbs := NewThumbnails()
	content := asPNG(t, halves(800, 400))
	var opened atomic.Int64
	open := func(context.Context) (io.ReadSeekCloser, error) {
		opened.Add(1)
		return closing{bytes.NewReader(content)}, nil
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if made, err := thumbs.Get(t.Context(), "t:a", "x", Small, open); err != nil || made.Type != "image/jpeg" {
				t.Errorf("made is %+v, %v", made, err)
			}
		})
	}
	all.Wait()
	for _, other := range []struct {
		tenant ubl.TenantID
		size   Size
	}{{"t:a", Small}, {"t:b", Small}, {"t:a", Large}} {
		if _, err := thumbs.Get(t.Context(), other.tenant, "x", other.size, open); err != nil {
			t.Error(err)
		}
	}
	if n := opened.Load(); n < 3 || n > 10 {
		t.Errorf("three thumbnails were made of %d reads", n)
	}
	failing := errors.New("the disk is gone")
	if _, err := thumbs.Get(t.Context(), "t:c", "x", Small, func(context.Context) (io.ReadSeekCloser, error) { return nil, failing }); !errors.Is(err, failing) {
		t.Errorf("a failure is answered %v", err)
	}
	if _, err := thumbs.Get(t.Context(), "t:c", "x", Small, open); err != nil {
		t.Errorf("and then %v", err)
	}
}

// FuzzMake: no content breaks the server, and what is made is an image within its bounds.
func FuzzMake(f *testing.F) {
	for _, seed := range [][]byte{asPNG(f, halves(8, 6)), asJPEG(f, halves(8, 6)), turned(f, halves(8, 6), 6, binary.LittleEndian), bomb(1<<16, 1<<16), []byte("GIF89a<script>"), []byte(strings.Repeat("RIFF", 20))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if seen, err := Look(bytes.NewReader(content)); err != nil || seen.Width*seen.Height > 4_000_000 {
			return // which takes long, and is no other
		}
		made, err := Make(bytes.NewReader(content), 16)
		if err != nil {
			return
		}
		if c, _, err := image.DecodeConfig(bytes.NewReader(made.Data)); err != nil || max(c.Width, c.Height) > 16 {
			t.Errorf("made is %+v, %v", c, err)
		}
	})
}
