package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"
)

// orientation says how an image is to be turned before it is shown, as EXIF numbers it: 1 to 8, and
// 0 for not known.
type orientation int

// sideways reports whether width and height change places.
func (o orientation) sideways() bool { return o >= 5 && o <= 8 }

// Markers and tags of JPEG and of the EXIF inside.
const (
	markerStart    = 0xd8
	markerExif     = 0xe1
	markerScan     = 0xda // the pixels follow
	tagOrientation = 0x0112
	maxSegments    = 64
	maxTags        = 512
)

// orientationOf reads that of a JPEG, 0 where it has none that makes sense.
func orientationOf(r io.Reader) orientation {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil || head[0] != 0xff || head[1] != markerStart {
		return 0
	}
	for range maxSegments {
		if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != 0xff || head[1] == markerScan {
			return 0
		}
		size := int(binary.BigEndian.Uint16(head[2:])) - 2
		if size < 0 {
			return 0
		}
		segment := make([]byte, size)
		if _, err := io.ReadFull(r, segment); err != nil {
			return 0
		}
		if tiff, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok && head[1] == markerExif {
			return orientationIn(tiff)
		}
	}
	return 0
}

// orientationIn reads it in the TIFF that EXIF is.
func orientationIn(tiff []byte) orientation {
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(tiff, []byte("II")) {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 0
	}
	tags := tiff[at+2:]
	for n := min(int(order.Uint16(tiff[at:])), maxTags); n > 0 && len(tags) >= 12; n-- {
		if order.Uint16(tags) == tagOrientation {
			if o := orientation(order.Uint16(tags[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 0
		}
		tags = tags[12:]
	}
	return 0
}

// upright is the image as it is shown.
func (o orientation) upright(from *image.NRGBA) *image.NRGBA {
	if o <= 1 || o > 8 {
		return from
	}
	w, h := from.Rect.Dx(), from.Rect.Dy()
	to := image.NewNRGBA(image.Rect(0, 0, w, h))
	if o.sideways() {
		to = image.NewNRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			u, v := x, y
			switch o {
			case 2:
				u = w - 1 - x
			case 3:
				u, v = w-1-x, h-1-y
			case 4:
				v = h - 1 - y
			case 5:
				u, v = y, x
			case 6:
				u, v = h-1-y, x
			case 7:
				u, v = h-1-y, w-1-x
			case 8:
				u, v = y, w-1-x
			}
			copy(to.Pix[to.PixOffset(u, v):][:4], from.Pix[from.PixOffset(x, y):][:4])
		}
	}
	return to
}
