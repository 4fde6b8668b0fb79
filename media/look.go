package media

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // decoders
	_ "image/jpeg" // of the images that thumbnails are made of
	_ "image/png"
	"io"
	"strings"

	"github.com/gabriel-vasile/mimetype"
	_ "golang.org/x/image/webp" // as above

	"ubl"
)

// Seen is what a content is.
type Seen struct {
	// Type is a media type in small letters, without parameters.
	Type string
	// Width and Height of an image as it is shown, 0 for not known.
	Width, Height int
	// Thumbnail says that [Thumbnails] makes pictures of it.
	Thumbnail bool
}

// MaxPixels bounds the images of which thumbnails are made: 50 megapixels take 200 MB to decode.
const MaxPixels = 50_000_000

// headBytes is how much of a content says what it is.
const headBytes = 3072

// formats are the types of which thumbnails are made, by their decoders' names.
var formats = map[string]string{"image/jpeg": "jpeg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}

// Look says what a content is. It errs only where the content can't be read.
func Look(r io.ReadSeeker) (Seen, error) {
	head := make([]byte, headBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Seen{}, fmt.Errorf("couldn't read a content: %w", err)
	}
	s := Seen{Type: typeOf(head[:n])}
	if formats[s.Type] == "" {
		sound, err := soundOf(r, s.Type)
		if sound != "" {
			s.Type = sound
		}
		return s, err
	}
	size, turn, err := measure(r, s.Type)
	if err != nil {
		return s, err
	}
	if size.X <= 0 || size.Y <= 0 {
		return s, nil
	}
	if turn.sideways() {
		size.X, size.Y = size.Y, size.X
	}
	s.Width, s.Height = size.X, size.Y
	s.Thumbnail = size.X*size.Y <= MaxPixels
	return s, nil
}

// typeOf is the media type of what begins with head.
func typeOf(head []byte) string {
	kind, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if len(head) == 0 || kind == "" {
		return ubl.UnknownType
	}
	return kind
}

// measure reads how large an image is, and how it is to be turned. An image whose header makes no
// sense is none: its size is zero.
func measure(r io.ReadSeeker, kind string) (size image.Point, turn orientation, err error) {
	if _, err = r.Seek(0, io.SeekStart); err != nil {
		return size, 0, fmt.Errorf("couldn't read a content: %w", err)
	}
	c, format, bad := image.DecodeConfig(bufio.NewReader(r))
	if bad != nil || format != formats[kind] || max(c.Width, c.Height) > ubl.MaxImageSide {
		return image.Point{}, 0, nil
	}
	if kind == "image/jpeg" {
		if _, err = r.Seek(0, io.SeekStart); err != nil {
			return size, 0, fmt.Errorf("couldn't read a content: %w", err)
		}
		turn = orientationOf(bufio.NewReader(r))
	}
	return image.Pt(c.Width, c.Height), turn, nil
}
