package preview

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestParse: what is read of a page, and what isn't.
func TestParse(t *testing.T) {
	for what, test := range map[string]struct {
		page string
		want page
	}{
		"nothing": {"", page{}},
		"no page": {"\x00\x01\x02", page{}},
		"a title": {"<title> A &amp; B\n C </title>", page{title: "A & B C"}},
		"Open Graph": {`<html><head><title>t</title><meta name=description content=d><meta property="og:title" content="T"><meta property="og:description" content="D">
			<meta property="og:site_name" content="S"><meta property="og:image" content="/i.png"></head>`, page{title: "T", description: "D", site: "S", image: "/i.png"}},
		"Twitter":              {`<meta name="twitter:title" content="T"><meta name="twitter:description" content="D"><meta name="twitter:image" content="i">`, page{title: "T", description: "D", image: "i"}},
		"both":                 {`<meta name="twitter:title" content="T"><meta property="og:title" content="O">`, page{title: "O"}},
		"the first of each":    {`<meta property="og:title" content=""><meta property="og:title" content="1"><meta property="og:title" content="2">`, page{title: "1"}},
		"names in capitals":    {`<META NAME="Description" CONTENT="d">`, page{description: "d"}},
		"a safe picture first": {`<meta property="og:image" content="http://x/"><meta property="og:image:secure_url" content="https://x/">`, page{image: "https://x/"}},
		"in the body":          {`<body><title>no</title><meta property="og:title" content="no"><svg><title>no</title></svg>`, page{}},
		"in a script":          {`<script>"<title>no</title>"</script><style><title>no</title></style><!-- <title>no</title> --><title>yes</title>`, page{title: "yes"}},
		"a tag in the title":   {`<title><b>x</b><script>alert(1)</script></title>`, page{title: "<b>x</b><script>alert(1)</script>"}}, // text, and shown as such
		"cut off":              {`<title>whole</title><meta property="og:title" content="ha`, page{title: "whole"}},
		"a title without end":  {`<title>a`, page{title: "a"}},
		"a sign-in page":       {`<title>Sign in</title><body><form><input type="Password">`, page{title: "Sign in", signIn: true}},
		"a page with a door":   {`<meta property="og:title" content="News"><body><input type=password>`, page{title: "News"}},
		"bidi and zero width":  {"<title>pay\u202emoc.live\u202c \u2066x\u2069\u200b\u200d\ufeff\u00ad</title>", page{title: "paymoc.live x"}},
		"control characters":   {"<title>a\x07\x1b[31mb\u0085c</title>", page{title: "a[31mbc"}},
		"piles of marks":       {"<title>e" + strings.Repeat("\u0301", 50) + "</title>", page{title: "e\u0301\u0301\u0301"}},
		"too long":             {"<title>" + strings.Repeat("é", 300) + "</title>", page{title: strings.Repeat("é", maxTitle) + "…"}},
		"a huge tag":           {`<title>a</title><meta name="description" content="` + strings.Repeat("x", 2*maxToken) + `">`, page{title: "a"}},
	} {
		if got := parse(strings.NewReader(test.page), "text/html; charset=utf-8"); got != test.want {
			t.Errorf("%s: %+v, not %+v", what, got, test.want)
		}
	}
}

// TestParseEncodings: by the header, by the page, and by a guess.
func TestParseEncodings(t *testing.T) {
	for contentType, text := range map[string]string{
		"text/html; charset=iso-8859-1": "<title>caf\xe9</title>",
		"text/html":                     "<meta charset=windows-1252><title>caf\xe9</title>",
		"text/html; charset=utf-16le":   "<\x00t\x00i\x00t\x00l\x00e\x00>\x00c\x00a\x00f\x00\xe9\x00",
		"text/html; charset=nobody":     "<title>café</title>",
		"":                              "<title>café</title>",
	} {
		if got := parse(strings.NewReader(text), contentType); got.title != "café" {
			t.Errorf("%s: %q", contentType, got.title)
		}
	}
}

// FuzzParse: whatever a page is, its words are short, whole, and can be seen.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`<title>a</title><meta property="og:title" content="b&#x202e;"><input type=password>`), "text/html")
	f.Add([]byte("\xff\xfe<\x00t\x00"), "text/html; charset=utf-16")
	f.Fuzz(func(t *testing.T, text []byte, contentType string) {
		p := parse(strings.NewReader(string(text)), contentType)
		for said, most := range map[string]int{p.title: maxTitle, p.description: maxDescription, p.site: maxSite} {
			if !utf8.ValidString(said) || utf8.RuneCountInString(said) > most+1 || strings.ContainsFunc(said, func(r rune) bool {
				return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b'
			}) {
				t.Errorf("%q", said)
			}
		}
	})
}
