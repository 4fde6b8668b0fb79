// Package consent lets agents in as a person at a browser does, for tests of their OAuth clients: it
// opens the link that serve prints, and answers the page that asks.
package consent

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// Link finds the sign-in link in what serve prints.
var Link = regexp.MustCompile(`http://localhost:\d+/signin/[0-9a-f]{32}`)

// form is the value that the page has in its form.
var form = regexp.MustCompile(`name="form" value="([^"]*)"`)

// InGeneral lets an agent read and write in r:general for a day, and nothing else.
func InGeneral() url.Values {
	return url.Values{"answer": {"allow"}, "name": {"Harbour Robot"}, "set": {"messenger"}, "where": {"chosen"}, "place": {"r:general"}, "per_minute": {"60"}, "days": {"1"}}
}

// Person is somebody with a session in a browser. It stays where it is led away from.
type Person struct{ http http.Client }

// SignIn opens a sign-in link.
func SignIn(ctx context.Context, link string) (*Person, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p := &Person{http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	_, _, err = p.do(ctx, "POST", link, nil, http.StatusSeeOther)
	return p, err
}

// do sends a request as a page of the server's own does, and wants a status.
func (p *Person) do(ctx context.Context, method, at string, body url.Values, want int) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(body.Encode()))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := p.http.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != want {
		err = fmt.Errorf("%s %s is answered %d, want %d: %s", method, r.URL.Path, resp.StatusCode, want, text)
	}
	return resp, string(text), err
}

// Answer answers the page that an authorization leads to, and is where that leads: back to the
// client, with its code.
func (p *Person) Answer(ctx context.Context, authorize string, choices url.Values) (*url.URL, error) {
	resp, page, err := p.do(ctx, "GET", authorize, nil, http.StatusOK)
	if err != nil {
		return nil, err
	}
	sealed := form.FindStringSubmatch(page)
	if sealed == nil {
		return nil, fmt.Errorf("the page asks nothing: %s", page)
	}
	choices.Set("form", html.UnescapeString(sealed[1]))
	to := *resp.Request.URL
	to.Path, to.RawQuery = "/oauth/consent", ""
	if resp, _, err = p.do(ctx, "POST", to.String(), choices, http.StatusSeeOther); err != nil {
		return nil, err
	}
	return resp.Location()
}
