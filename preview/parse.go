package preview

import (
	"cmp"
	"io"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"ubl"
)

// What is shown of a page's words, in characters.
const (
	maxTitle       = 200
	maxDescription = 400
	maxSite        = 80
	// maxToken bounds one tag or one piece of text of a page.
	maxToken = 64 << 10
	// maxMarks is how many marks a letter may have.
	maxMarks = 3
)

// page is what a page says of itself.
type page struct {
	title, description, site string
	image                    string // as it is written there
	// signIn says that the page asks for a password, and says nothing for others to show.
	signIn bool
}

// parse reads a page of some content type, in whatever encoding. It reads as far as the page can be
// read: what was found by then counts.
func parse(r io.Reader, contentType string) page {
	text, err := charset.NewReader(r, contentType)
	if err != nil { // not even one byte, or an encoding that nobody knows
		return page{}
	}
	z := html.NewTokenizer(text)
	z.SetMaxBuf(maxToken)
	found, password, head := map[string]string{}, false, true
	for {
		switch z.Next() {
		case html.ErrorToken:
			return pageOf(found, password)
		case html.StartTagToken, html.SelfClosingTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "body":
				head = false
			case "title":
				if head && z.Next() == html.TextToken {
					keep(found, "title", string(z.Text()))
				}
			case "meta":
				if head {
					a := attributes(z)
					keep(found, strings.ToLower(strings.TrimSpace(cmp.Or(a["property"], a["name"]))), a["content"])
				}
			case "input":
				password = password || strings.EqualFold(attributes(z)["type"], "password")
			}
		}
	}
}

// attributes are what the newest tag says of itself. Where a name stands twice, the first counts.
func attributes(z *html.Tokenizer) map[string]string {
	all := map[string]string{}
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, known := all[string(key)]; !known {
			all[string(key)] = string(value)
		}
	}
	return all
}

// named are the members of pages that are read.
var named = map[string]bool{
	"title": true, "description": true, "og:title": true, "og:description": true, "og:site_name": true,
	"og:image": true, "og:image:url": true, "og:image:secure_url": true,
	"twitter:title": true, "twitter:description": true, "twitter:image": true, "twitter:image:src": true,
}

// keep keeps the first of each name that says something.
func keep(found map[string]string, name, value string) {
	if named[name] && found[name] == "" {
		found[name] = strings.TrimSpace(value)
	}
}

func pageOf(found map[string]string, password bool) page {
	return page{
		title:       clean(cmp.Or(found["og:title"], found["twitter:title"], found["title"]), maxTitle),
		description: clean(cmp.Or(found["og:description"], found["twitter:description"], found["description"]), maxDescription),
		site:        clean(found["og:site_name"], maxSite),
		image:       cmp.Or(found["og:image:secure_url"], found["og:image"], found["og:image:url"], found["twitter:image"], found["twitter:image:src"]),
		signIn:      password && found["og:title"] == "" && found["twitter:title"] == "",
	}
}

// clean is a text of a stranger's on one line, of at most so many characters, without what can't be
// seen, what turns the direction of writing, and piles of marks.
func clean(text string, most int) string {
	text = strings.Join(strings.Fields(ubl.Plain(strings.ToValidUTF8(text, ""))), " ")
	var out strings.Builder
	n, marks := 0, 0
	for _, r := range text {
		if marks++; !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Me, r) {
			marks = 0
		}
		if marks > maxMarks || r == unicode.ReplacementChar {
			continue
		}
		if n++; n > most {
			return strings.TrimSpace(out.String()) + "…"
		}
		out.WriteRune(r)
	}
	return strings.TrimSpace(out.String())
}
