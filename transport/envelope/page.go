package envelope

import (
	"html/template"
	"net/http"
	"strings"
)

// pagePolicy lets a page have its style and picture, and send its form back.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// frame is around every page. Style and picture are the app's.
const frame = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>{{template "title" .}}</title>
<link rel="icon" href="/ui/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/ui/page.css">
</head>
<body>
<main>
<img src="/ui/icon.svg" alt="" width="56" height="56">
{{template "content" .}}</main>
</body>
</html>
`

// NewPage makes a page for people at a browser that hasn't loaded the app, with one
// card and no script. title is text, content HTML; both are templates, and mistakes in
// them panic, since they are constants.
func NewPage(title, content string) *template.Template {
	page := template.Must(template.New("page").Parse(frame))
	template.Must(page.New("title").Parse(title))
	template.Must(page.New("content").Parse(content))
	return page
}

// WritePage writes a page. A browser that has gone is no error of ours.
func WritePage(w http.ResponseWriter, status int, page *template.Template, data any) {
	SecurePage(w.Header())
	writePage(w, status, page, data)
}

func writePage(w http.ResponseWriter, status int, page *template.Template, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, data)
}

// WriteFormPage is WritePage for a page whose form may lead on to another place, as a
// Content-Security-Policy names it; "" for nowhere.
func WriteFormPage(w http.ResponseWriter, status int, page *template.Template, data any, to string) {
	SecurePage(w.Header())
	if to != "" {
		w.Header().Set("Content-Security-Policy", strings.Replace(pagePolicy, "form-action 'self'", "form-action 'self' "+to, 1))
	}
	writePage(w, status, page, data)
}

// SecurePage keeps what is answered at a page's address, which may be a secret, from
// everybody else. The page is told to itself as referrer: without one, browsers send
// its form as if it came from nowhere. Others aren't told.
func SecurePage(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
}
