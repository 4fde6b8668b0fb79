package preview

import (
	"slices"
	"strings"
	"testing"
)

// TestLinks: which links of a message have a preview.
func TestLinks(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"no link, www.example.com neither": "",
		"see https://a.example/x.":         "https://a.example/x",
		"(https://a.example/x)":            "https://a.example/x",
		"https://a.example/b_(c)!":         "https://a.example/b_(c)",
		"https://a.example?q[]=1, and":     "https://a.example?q[]=1",
		"**https://a.example**":            "https://a.example",
		"\"https://a.example\"":            "https://a.example",
		"two https://a.example\nhttp://b.example https://a.example":               "https://a.example http://b.example",
		"https://a.example https://b.example https://c.example https://d.example": "https://a.example https://b.example https://c.example",

		"[words](https://a.example/x)":                    "https://a.example/x",
		"[words](https://a.example/x \"title\")":          "https://a.example/x",
		"[https://b.example](https://a.example/x)":        "https://a.example/x", // where it leads, not what it says
		"![picture](https://a.example/x.png)":             "https://a.example/x.png",
		"> https://a.example":                             "https://a.example",
		"<https://a.example> and [x](<http://b.example>)": "", // their author wants none
		"<a href=https://a.example>":                      "https://a.example",

		"`https://a.example`":                                  "",
		"`` a ` https://a.example `` https://b.example":        "https://b.example",
		"` https://a.example":                                  "https://a.example", // no code
		"```\nhttps://a.example\n```\nhttps://b.example":       "https://b.example",
		"~~~~ go\nhttps://a.example\n~~~\nhttps://b.example":   "", // not closed
		"```\nhttps://a.example":                               "",
		"   ```\nhttps://a.example\n   ```\nhttps://b.example": "https://b.example",
		"```https://a.example``` https://b.example":            "https://b.example",

		"xhttps://a.example":                  "",
		"ftp://a.example javascript:alert(1)": "",
		"https://user:s3cr3t@a.example":       "",
		"https://user@a.example":              "",
		"https://":                            "",
		"http://:80/":                         "",
		"https://a.example:25 http://a.example:22/ https://a.example:99999999999 https://a.example:65536": "",
		"https://a.example:443/ http://a.example:8080/":                                                   "https://a.example:443/ http://a.example:8080/",
		"http://[::1":           "",
		"https://a.example/%zz": "",
		"https://a.example/" + strings.Repeat("x", maxURL): "",
		"https://münchen.example/ß":                        "https://münchen.example/ß",
		"https://a.example/x\u200b":                        "https://a.example/x\u200b",
	} {
		if got := Links(text); strings.Join(got, " ") != want {
			t.Errorf("%q has %q, not %q", text, got, want)
		}
	}
}

// FuzzLinks: links are in the text, none twice, and each may be asked for.
func FuzzLinks(f *testing.F) {
	f.Add("see [https://a.example](http://b.example) and `https://c.example`")
	f.Add("```\nhttps://a.example\n~~~\n``")
	f.Fuzz(func(t *testing.T, text string) {
		links := Links(text)
		for i, link := range links {
			if !strings.Contains(text, link) || slices.Contains(links[:i], link) || fetchable(link) == nil {
				t.Errorf("%q has %q", text, link)
			}
		}
		if len(links) > MaxLinks {
			t.Errorf("%q has %d links", text, len(links))
		}
	})
}
