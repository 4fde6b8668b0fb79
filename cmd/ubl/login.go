package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"ubl"
	"ubl/transport/auth"
	"ubl/transport/envelope"
)

// loginEvery is how often a login asks whether the person has agreed.
const loginEvery = 2 * time.Second

// loginCmd signs in to a server and keeps that as a profile. See [auth.CLIBeginPath] for the
// way: the person agrees in their browser, and only the process that began gets the token.
type loginCmd struct {
	Server  string `arg:"" name:"url" optional:"" help:"The server; without one, the default profile's, else the one on this machine." placeholder:"URL"`
	Name    string `help:"What to call the profile; the server's host unless given." config:"-"`
	With    string `name:"with-token" type:"path" help:"Keep the token in this file instead of asking for one; - reads it from standard input." placeholder:"FILE" config:"-"`
	Browser bool   `default:"true" negatable:"" help:"Open the browser; --no-browser prints the link alone." config:"-"`
}

// Run signs in. The profile that it makes is the default one from then on.
func (c *loginCmd) Run(ctx context.Context, p *program) error {
	if _, err := p.configDir(); err != nil {
		return err
	}
	which := whichServer{URL: cmp.Or(c.Server, p.env["UBL_URL"])}
	at, profiles, err := which.place(p, c.With)
	if err != nil {
		return err
	}
	kept := &profile{URL: at.url}
	if c.With != "" {
		kept.Token, err = c.there(p)
	} else {
		err = c.ask(ctx, p, kept)
	}
	if err != nil {
		return err
	}
	var me myself
	if err := p.client(&target{url: at.url, token: kept.Token}).call(ctx, "GET", "/api/whoami", nil, &me); err != nil {
		return err
	}
	kept.Email, kept.UserID, kept.TenantID, kept.ExpiresAt = me.Identity.Email, me.Identity.UserID, me.TenantID, me.ExpiresAt
	name := cmp.Or(c.Name, profileName(at.url))
	profiles.List[name], profiles.Default = kept, name
	if err := p.keepProfiles(profiles); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "Signed in to %s as %s, %s of %s. The profile %s is the default now.\n", kept.URL, clean(cmp.Or(me.Identity.Email, me.Name, string(me.Identity.UserID))), me.Role, clean(string(me.TenantID)), clean(name))
	return err
}

// there is the token that somebody has already.
func (c *loginCmd) there(p *program) (string, error) {
	if c.With != "-" {
		return tokenIn(c.With)
	}
	data, err := io.ReadAll(io.LimitReader(p.in, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("couldn't read standard input: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if !tokenLike(token) {
		return "", errors.New("standard input holds no token")
	}
	return token, nil
}

// ask has the person agree in their browser, and waits for that.
func (c *loginCmd) ask(ctx context.Context, p *program, kept *profile) error {
	secret, err := auth.DrawText(p.random)
	if err != nil {
		return err
	}
	at := envelope.Origin(kept.URL)
	server := p.client(&target{url: kept.URL})
	var begun auth.CLIBegun
	body := map[string]string{"name": c.whereFrom(), "at": at, "challenge": auth.CLIChallenge(secret, at)}
	if err := server.call(ctx, "POST", auth.CLIBeginPath, body, &begun); err != nil {
		return err
	}
	stopped := ctx
	ctx, cancel := context.WithTimeout(ctx, time.Duration(begun.Seconds)*time.Second)
	defer cancel()
	link := clean(begun.Link)
	if strings.HasPrefix(link, "/") {
		link = kept.URL + link
	}
	if envelope.Origin(link) == "" {
		return errors.New("the answer is not as a UBL server's would be")
	}
	if !envelope.SameOrigin(link, at) {
		return elsewhereSignedIn(at, envelope.Origin(link))
	}
	fmt.Fprintf(p.err, "Code: %s\nOpen this in the browser in which you are signed in, and see that it shows the same code:\n  %s\n", clean(begun.Code), link)
	if c.Browser {
		_ = p.openBrowser(ctx, link) // the link is printed, too
	}
	server.tries = 1
	for {
		var got auth.CLIToken
		err := server.call(ctx, "POST", auth.CLITokenPath, map[string]string{"secret": secret, "at": at}, &got)
		refusal, refused := errors.AsType[*apiError](err)
		switch {
		case err == nil:
			kept.Token, kept.JTI = got.Token, got.JTI
			return nil
		case ctx.Err() != nil:
		case refused && refusal.body.Error.Code == ubl.CodeNotFound, refused && refusal.status == 429, refused && refusal.status >= 500:
		default:
			return err
		}
		switch {
		case every(ctx, loginEvery):
		case stopped.Err() != nil:
			return stopped.Err()
		default:
			return thenDo(errors.New("nobody agreed in time"), `run "ubl login" again`)
		}
	}
}

// elsewhereSignedIn is of a server that sends people to another address than the one that was
// asked. It may be a false one, which passes on the link of the server there.
func elsewhereSignedIn(asked, shown string) error {
	err := fmt.Errorf("%s says that it is %s: it would be signed in there, and may be another program that only says so", asked, clean(shown))
	return thenDo(err, "log in at that address, if it is your server's: ubl login %s", clean(shown))
}

// whereFrom is what the person is told of who asks.
func (c *loginCmd) whereFrom() string {
	host, err := os.Hostname()
	if err != nil || ubl.CheckName("ubl on "+host) != nil {
		return "ubl"
	}
	return "ubl on " + host
}

// logoutCmd ends a profile and its token.
type logoutCmd struct {
	Name string `arg:"" optional:"" name:"profile" complete:"profiles" help:"The profile; the default one unless given."`
}

// Run ends the token at the server where that is reached, and forgets it in any case.
func (c *logoutCmd) Run(ctx context.Context, p *program) error {
	profiles, err := p.profiles()
	if err != nil {
		return err
	}
	name := cmp.Or(c.Name, profiles.Default)
	kept := profiles.List[name]
	if kept == nil {
		return thenDo(usagef("there is no such profile"), `"ubl profiles" lists them`)
	}
	var ended error
	if kept.JTI != "" {
		server := p.client(&target{url: kept.URL, token: kept.Token})
		server.tries = 1
		_, ended = server.act(ctx, p, "DELETE", "/api/tokens/"+kept.JTI, nil, "")
		if refusal, ok := errors.AsType[*apiError](ended); ok && refusal.status < 500 { // it has ended before
			ended = nil
		}
	}
	delete(profiles.List, name)
	if profiles.Default == name {
		profiles.Default = ""
	}
	if err := p.keepProfiles(profiles); err != nil {
		return err
	}
	if ended != nil {
		return thenDo(fmt.Errorf("the profile is forgotten, but its token couldn't be revoked: %w", ended), "end it in More, Settings, or with \"ubl token revoke %s\"", kept.JTI)
	}
	_, err = fmt.Fprintf(p.out, "Signed out of %s.\n", kept.URL)
	return err
}

// profilesCmd lists profiles, and says which is the default.
type profilesCmd struct {
	format
	Use string `help:"Make this profile the default." placeholder:"NAME" config:"-" complete:"profiles"`
}

// listedProfile is one without its token.
type listedProfile struct {
	Name      string       `json:"name"`
	Default   bool         `json:"default"`
	URL       string       `json:"url"`
	Email     string       `json:"email,omitempty"`
	UserID    ubl.UserID   `json:"user_id"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	ExpiresAt *ubl.Time    `json:"expires_at"`
}

// Run lists them, with --json one a line. Tokens are never shown.
func (c *profilesCmd) Run(p *program) error {
	profiles, err := p.profiles()
	if err != nil {
		return err
	}
	if c.Use != "" {
		if profiles.List[c.Use] == nil {
			return thenDo(usagef("there is no such profile"), "%s", cmp.Or(meant(c.Use, profiles.names()), `"ubl login URL" makes one`))
		}
		profiles.Default = c.Use
		if err := p.keepProfiles(profiles); err != nil {
			return err
		}
	}
	var list []listedProfile
	for _, name := range profiles.names() {
		k := profiles.List[name]
		list = append(list, listedProfile{name, name == profiles.Default, k.URL, k.Email, k.UserID, k.TenantID, k.ExpiresAt})
	}
	if c.JSON {
		return printJSON(p.out, list)
	}
	return printTable(p.out, "PROFILE\tSERVER\tWHO\tTENANT\tUNTIL", list, func(l listedProfile) string {
		until := "-"
		if l.ExpiresAt != nil {
			until = local(*l.ExpiresAt)
		}
		name := l.Name
		if l.Default {
			name += " (default)"
		}
		return cells(name, l.URL, cmp.Or(l.Email, string(l.UserID)), l.TenantID, until)
	})
}
