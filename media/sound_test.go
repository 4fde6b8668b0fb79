package media

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// element is one of Matroska: an id, a length of one byte, and what is in it.
func element(id string, in ...string) string {
	body := strings.Join(in, "")
	return id + string([]byte{0x40 | byte(len(body)>>8), byte(len(body))}) + body
}

// webm is the beginning of a WebM file, as Chromium records it: its segment has no length.
func webm(tracks ...byte) []byte {
	var entries []string
	for i, kind := range tracks {
		entries = append(entries, element("\xae", element("\xd7", string([]byte{byte(i + 1)})), element("\x83", string([]byte{kind})), element("\x86", "A_OPUS")))
	}
	return []byte(element("\x1a\x45\xdf\xa3", element("\x42\x82", "webm")) + "\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff" +
		element("\x15\x49\xa9\x66", element("\x4d\x80", "Chrome")) + element("\x16\x54\xae\x6b", entries...) + "\x1f\x43\xb6\x75\x01\xff\xff\xff\xff\xff\xff\xff\x83\x81\x01")
}

func box(kind string, in ...string) string {
	body := strings.Join(in, "")
	return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))) + kind + body
}

func mp4(order string, tracks ...string) []byte {
	moov := box("mvhd", strings.Repeat("\x00", 100))
	for _, handler := range tracks {
		moov += box("trak", box("tkhd", "x"), box("mdia", box("mdhd", "x"), box("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00"+handler+"\x00\x00")))
	}
	parts := map[byte]string{'m': box("moov", moov), 'd': box("mdat", strings.Repeat("vide", 2000)), 'D': "\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x14datum"[:20]}
	out := box("ftyp", "isom\x00\x00\x02\x00isomiso5mp41")
	for _, part := range []byte(order) {
		out += parts[part]
	}
	return []byte(out)
}

// TestVoiceNotes: what a browser records of a voice is sound, whatever it is kept in.
func TestVoiceNotes(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"a voice, WebM":                  {webm(2), "audio/webm"},
		"a film, WebM":                   {webm(1, 2), "video/webm"},
		"subtitles beside a voice":       {webm(2, 17), "video/webm"},
		"WebM without tracks":            {webm(), "video/webm"},
		"WebM that ends early":           {webm(2)[:30], "video/webm"},
		"a voice, MP4":                   {mp4("md", "soun"), "audio/mp4"},
		"a voice, MP4, told at its end":  {mp4("dm", "soun"), "audio/mp4"},
		"a voice behind a long box":      {mp4("Dm", "soun"), "audio/mp4"},
		"a film, MP4":                    {mp4("md", "vide", "soun"), "video/mp4"},
		"MP4 without tracks":             {mp4("m"), "video/mp4"},
		"MP4 without what says its kind": {mp4("d"), "video/mp4"},
	} {
		seen, err := Look(bytes.NewReader(c.content))
		if err != nil || seen.Type != c.want {
			t.Errorf("%s is %q, %v; want %q", name, seen.Type, err, c.want)
		}
	}
}

// TestHidden: a box or an element that lasts longer than what it is in may hide a picture, and boxes of
// one kind in each other cost no more than others.
func TestHidden(t *testing.T) {
	track := func(handler string) string {
		return box("trak", box("mdia", box("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00"+handler)))
	}
	deep := track("vide")
	for range 10_000 {
		deep = box("trak", deep)
	}
	ftyp := box("ftyp", "isom\x00\x00\x02\x00isomiso5mp41")
	for name, c := range map[string]struct{ content, want string }{
		"an element that lasts too long": {string(webm(2)[:len(webm(2))-12]) + "\x86\x7f\xff" + string(webm(1)), "video/webm"},
		"a box that lasts too long":      {ftyp + box("moov", track("soun")+"\x00\xff\xff\xfftrak"), "video/mp4"},
		"tracks in tracks":               {ftyp + box("moov", track("soun"), deep), "audio/mp4"},
		"a box without an end":           {ftyp + "\x00\x00\x00\x01free\x3f\xff\xff\xff\xff\xff\xff\xff" + box("moov", track("soun")), "video/mp4"},
	} {
		seen, err := Look(strings.NewReader(c.content))
		if err != nil || seen.Type != c.want {
			t.Errorf("%s is %q, %v; want %q", name, seen.Type, err, c.want)
		}
	}
}

// FuzzSound: no container is too odd, and what is cut off is no sound that has a picture.
func FuzzSound(f *testing.F) {
	for _, seed := range [][]byte{webm(2), webm(1, 2), mp4("md", "soun"), mp4("dm", "vide"), []byte("\x00\x00\x00\x01moov\xff\xff\xff\xff\xff\xff\xff\xff")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, kind := range []string{"video/webm", "video/mp4"} {
			sound, err := soundOf(bytes.NewReader(content), kind)
			if err != nil || !slices.Contains([]string{"", "audio/" + kind[6:]}, sound) {
				t.Errorf("%q of %s: %v", sound, kind, err)
			}
		}
	})
}
