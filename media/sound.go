package media

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// headOfFilm is how much of a WebM file is looked through for what is in it.
const headOfFilm = 64 << 10

// Bounds of what is read of an MP4 file: how many boxes, how long the one is that says what is in it, and where it is.
const (
	maxBoxes = 64
	maxMovie = 1 << 20
	maxFilm  = 1 << 50 // more than any file system keeps: not each can be sought to
)

// soundOf is the type of a film that has sound alone, as a voice note is: browsers record
// those in the same containers, and a film without a picture would be shown as one. It is "" for what
// has a picture, and for what makes no sense.
func soundOf(r io.ReadSeeker, kind string) (string, error) {
	var tracks []byte
	var err error
	switch kind {
	case "video/webm":
		if tracks, err = headOf(r); err == nil && hasOnly(webmTracks(tracks), webmSound) {
			return "audio/webm", nil
		}
	case "video/mp4":
		if tracks, err = movieOf(r); err == nil && hasOnly(mp4Tracks(tracks), "soun") {
			return "audio/mp4", nil
		}
	}
	return "", err
}

// hasOnly reports whether there are tracks, and all of a kind.
func hasOnly[T comparable](tracks []T, kind T) bool {
	for _, t := range tracks {
		if t != kind {
			return false
		}
	}
	return len(tracks) > 0
}

func headOf(r io.ReadSeeker) ([]byte, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("couldn't read a content: %w", err)
	}
	return upTo(r, headOfFilm)
}

// upTo is what r has, at most n bytes.
func upTo(r io.Reader, n int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, n))
	if err != nil {
		err = fmt.Errorf("couldn't read a content: %w", err)
	}
	return data, err
}

// Elements of Matroska (RFC 9559), of which WebM is a part.
const (
	webmSegment, webmTracksID, webmEntry, webmType, webmCluster = 0x18538067, 0x1654AE6B, 0xAE, 0x83, 0x1F43B675

	webmSound = 2 // of a track's type
)

// webmTracks are the types of the tracks of a WebM file, none where they don't begin it.
func webmTracks(data []byte) (types []uint64) {
	inside := false // an entry
	for len(data) > 0 {
		id, n := vint(data, 4, true)
		if n == 0 {
			return nil
		}
		size, m := vint(data[n:], 8, false)
		if m == 0 {
			return nil
		}
		data = data[n+m:]
		switch id {
		case webmSegment, webmTracksID:
			continue // what it has follows
		case webmEntry:
			inside = true
			continue
		case webmCluster:
			return types
		}
		if size > uint64(len(data)) { // it may hide a track
			return nil
		}
		if id == webmType && inside {
			types = append(types, number(data[:size]))
		}
		data = data[size:]
	}
	return types
}

// vint reads a number of variable length, of at most most bytes: those of ids keep their marker. n is 0
// where there is none.
func vint(data []byte, most int, marker bool) (v uint64, n int) {
	if len(data) == 0 {
		return 0, 0
	}
	for n = 1; n <= most && data[0]&(1<<(8-n)) == 0; n++ {
	}
	if n > most || n > len(data) {
		return 0, 0
	}
	v = number(data[:n])
	if !marker {
		v &^= 1 << (7 * n)
	}
	return v, n
}

func number(data []byte) (v uint64) {
	for _, b := range data {
		v = v<<8 | uint64(b)
	}
	return v
}

// movieOf is what says what is in an MP4 file: its box moov, which stands at the beginning or the end.
func movieOf(r io.ReadSeeker) ([]byte, error) {
	var at int64
	for range maxBoxes {
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			return nil, fmt.Errorf("couldn't read a content: %w", err)
		}
		head := make([]byte, 16)
		n, err := io.ReadFull(r, head)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("couldn't read a content: %w", err)
		}
		size, body := boxSize(head[:n])
		if size == 0 {
			return nil, nil
		}
		if string(head[4:8]) == "moov" {
			if size > maxMovie {
				return nil, nil
			}
			if _, err := r.Seek(at+body, io.SeekStart); err != nil {
				return nil, fmt.Errorf("couldn't read a content: %w", err)
			}
			return upTo(r, size-body)
		}
		if at += size; at < 0 || at > maxFilm {
			return nil, nil
		}
	}
	return nil, nil
}

// boxSize is how long a box is, and where in it its body begins; 0 where it makes no sense or lasts to
// the end.
func boxSize(head []byte) (size, body int64) {
	if len(head) < 8 {
		return 0, 0
	}
	size, body = int64(binary.BigEndian.Uint32(head)), 8
	if size == 1 && len(head) >= 16 {
		size, body = int64(binary.BigEndian.Uint64(head[8:])), 16
	}
	if size < body {
		return 0, 0
	}
	return size, body
}

// mp4Tracks are the handlers of the tracks in a moov: "vide", "soun" and others. None where a box
// lasts longer than the one that it is in.
func mp4Tracks(moov []byte) (handlers []string) {
	return handlersIn(moov, nil, "trak", "mdia", "hdlr")
}

// handlersIn adds the handlers in data, which are in boxes in boxes of these kinds.
func handlersIn(data []byte, handlers []string, path ...string) []string {
	for len(data) > 0 {
		size, body := boxSize(data)
		if size == 0 || size > int64(len(data)) {
			return nil
		}
		in := data[body:size]
		switch {
		case string(data[4:8]) != path[0]:
		case len(path) > 1:
			if handlers = handlersIn(in, handlers, path[1:]...); handlers == nil {
				return nil
			}
		case len(in) >= 12:
			handlers = append(handlers, string(in[8:12]))
		}
		data = data[size:]
	}
	return handlers
}
