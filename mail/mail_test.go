package mail_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/mail"
	"ubl/test/mailserver"
	"ubl/test/poll"
)

const bob ubl.Name = "t:example.com|p:bob"

var links = mail.Links{At: "https://ubl.example", Keys: func() [][]byte { return [][]byte{[]byte(strings.Repeat("k", 32))} }}

func options(at *mailserver.Server) mail.Options {
	return mail.Options{
		Server: at.Addr, TLS: mail.StartTLS, Roots: at.Roots, From: "ubl@example.com", At: "https://ubl.example", Links: links, Now: time.Now,
	}
}

func digest() ubl.UnreadMail {
	return ubl.UnreadMail{
		ID: "c:0123abc", To: "bob@example.org", Of: bob, Due: ubl.TimeOf(time.Now()),
		Rooms: []ubl.UnreadRoom{{RoomID: "r:general", Name: "general", Count: 2, Authors: []string{"ana@example.com"}}},
	}
}

// TestMail: a mail reaches the server by TLS, from whom the operator says, in two forms, and says how
// it ends.
func TestMail(t *testing.T) {
	at := mailserver.New(t, mailserver.Options{User: "ubl", Password: "secret"})
	o := options(at)
	o.User, o.Password = "ubl", "secret"
	s := mail.New(o)
	if err := s.Mail(t.Context(), digest()); err != nil {
		t.Fatal(err)
	}
	got := at.Take()
	if len(got) != 1 || got[0].From != "ubl@example.com" || got[0].To != "bob@example.org" || !got[0].Secure {
		t.Fatalf("the server got %+v", got)
	}
	h := got[0].Header
	for name, want := range map[string]string{
		"Subject": "Unread messages: 2", "Message-Id": "<c.0123abc@example.com>", "Auto-Submitted": "auto-generated",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "To": "<bob@example.org>", "From": `"UBL" <ubl@example.com>`,
	} {
		if h.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, h.Get(name), want)
		}
	}
	link := strings.Trim(h.Get("List-Unsubscribe"), "<>")
	token, ok := strings.CutPrefix(link, "https://ubl.example"+mail.StopPath)
	if of, mine := links.Read(token); !ok || !mine || of != bob {
		t.Errorf("the link %s is of %q", link, of)
	}
	parts := got[0].Parts(t)
	for _, form := range []string{"text/plain", "text/html"} {
		for _, want := range []string{"general", ": 2", "ana@example.com", link, "https://ubl.example/ui/"} {
			if !strings.Contains(parts[form], want) {
				t.Errorf("%s has no %q:\n%s", form, want, parts[form])
			}
		}
	}
	if stats := s.Stats(); stats != (mail.Stats{Sent: 1}) {
		t.Errorf("the figures are %+v", stats)
	}
}

// TestWays: by each way to a server that is allowed, and by no other.
func TestWays(t *testing.T) {
	for name, test := range map[string]struct {
		server mailserver.Options
		change func(*mail.Options)
		want   mail.Step // where it fails, "" for nowhere
	}{
		"STARTTLS":                  {mailserver.Options{}, func(*mail.Options) {}, ""},
		"TLS from the first byte":   {mailserver.Options{Implicit: true}, func(o *mail.Options) { o.TLS = mail.TLS }, ""},
		"TLS, signed in":            {mailserver.Options{Implicit: true, User: "u", Password: "p"}, func(o *mail.Options) { o.TLS, o.User, o.Password = mail.TLS, "u", "p" }, ""},
		"none":                      {mailserver.Options{Plain: true}, func(o *mail.Options) { o.TLS = mail.None }, ""},
		"a server without STARTTLS": {mailserver.Options{Plain: true}, func(*mail.Options) {}, mail.Secures},
		"a certificate of others":   {mailserver.Options{}, func(o *mail.Options) { o.Roots = nil }, mail.Secures},
		"a wrong password":          {mailserver.Options{User: "u", Password: "p"}, func(o *mail.Options) { o.User, o.Password = "u", "hunter2" }, mail.SignsIn},
		"a server that is gone":     {mailserver.Options{}, func(o *mail.Options) { o.Server = closed(t) }, mail.Reaches},
	} {
		at := mailserver.New(t, test.server)
		o := options(at)
		test.change(&o)
		s := mail.New(o)
		step, err := s.Check(t.Context())
		if step != test.want || (err == nil) != (test.want == "") {
			t.Errorf("%s: the check fails at %q: %v", name, step, err)
		}
		err = s.Mail(t.Context(), digest())
		if got := at.Take(); (err == nil) != (test.want == "") || len(got) == 1 != (test.want == "") {
			t.Errorf("%s: %v, the server got %d", name, err, len(got))
		}
		if err != nil && (ubl.CodeOf(err) != ubl.CodeUnavailable || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s is answered %v", name, err)
		}
	}
}

// closed is the address of nobody.
func closed(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	return ln.Addr().String()
}

// TestAnswers: what refusals mean. None of them is told with what the server said, which names people.
func TestAnswers(t *testing.T) {
	at := mailserver.New(t, mailserver.Options{})
	s := mail.New(options(at))
	for _, test := range []struct {
		step mailserver.Step
		code int
		want ubl.Code
	}{
		{mailserver.To, 450, ubl.CodeUnavailable}, {mailserver.To, 550, ubl.CodeForbidden}, {mailserver.To, 530, ubl.CodeUnavailable},
		{mailserver.From, 421, ubl.CodeUnavailable}, {mailserver.From, 550, ubl.CodeUnavailable},
		{mailserver.Data, 451, ubl.CodeUnavailable}, {mailserver.Data, 554, ubl.CodeForbidden},
	} {
		at.Refuse(func(step mailserver.Step, _ string) int {
			if step == test.step {
				return test.code
			}
			return 0
		})
		err := s.Mail(t.Context(), digest())
		if ubl.CodeOf(err) != test.want || strings.Contains(err.Error(), "example") || len(at.Take()) > 0 {
			t.Errorf("%d to %s is %v, want %s", test.code, test.step, err, test.want)
		}
	}
	if stats := s.Stats(); stats != (mail.Stats{Failed: 5, Refused: 2}) {
		t.Errorf("the figures are %+v", stats)
	}
	at.Refuse(nil)
	m := digest()
	m.To = "bob@example.org\r\nBcc: eve@example.net"
	if err := s.Mail(t.Context(), m); ubl.CodeOf(err) != ubl.CodeForbidden || len(at.Take()) > 0 {
		t.Errorf("an address with a line break is %v", err)
	}
}

// TestSlowServer: one that hangs has few mails at a time, and is given up when who asks gives up.
func TestSlowServer(t *testing.T) {
	at := mailserver.New(t, mailserver.Options{})
	at.Hang(true)
	s := mail.New(options(at))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 100)
	for range 8 {
		go func() { ended <- s.Mail(ctx, digest()) }()
	}
	poll.Until(t, "a ninth finds no place", func() bool {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		return ubl.CodeOf(s.Mail(gone, digest())) == ubl.CodeOverloaded
	})
	cancel()
	for range 8 {
		if err := <-ended; ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("one that hung is answered %v", err)
		}
	}
}

// TestLostAnswer: nobody knows whether a server has a mail whose answer was lost. The next attempt has
// the same Message-ID.
func TestLostAnswer(t *testing.T) {
	at := mailserver.New(t, mailserver.Options{})
	at.Lose(1)
	s := mail.New(options(at))
	if err := s.Mail(t.Context(), digest()); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("a lost answer is %v", err)
	}
	if err := s.Mail(t.Context(), digest()); err != nil {
		t.Error(err)
	}
	if got := at.Take(); len(got) != 2 || got[0].Header.Get("Message-Id") != got[1].Header.Get("Message-Id") {
		t.Errorf("the server got %+v", got)
	}
}

// TestHostileNames: no name or text makes a header, turns what is around it, links anywhere, or makes
// a mail large.
func TestHostileNames(t *testing.T) {
	at := mailserver.New(t, mailserver.Options{})
	s := mail.New(options(at))
	evil := "pay\u202e.evil.example\r\nBcc: eve@example.net\u2028<b onclick=x>" + strings.Repeat("A", 5000)
	m := digest()
	m.Language = "ar"
	for range 10_000 {
		m.Rooms = append(m.Rooms, ubl.UnreadRoom{
			RoomID: "r:x", Name: evil, Count: 10_000, Authors: []string{evil, "b", "c", "d", "e"}, Lines: []ubl.UnreadLine{{Author: evil, Text: evil}},
		})
	}
	if err := s.Mail(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := at.Take()[0]
	if len(got.Header["Bcc"]) > 0 || len(got.Body) > 64<<10 {
		t.Errorf("a mail has %d bytes and the headers %v", len(got.Body), got.Header)
	}
	for form, text := range got.Parts(t) {
		for _, wrong := range []string{"\u202e", "\u2028", "evil.example\n", "<b onclick", "pay.evil.example\r", "AAAA" + strings.Repeat("A", 300)} {
			if strings.Contains(text, wrong) && (form == "text/html" || wrong != "<b onclick") {
				t.Errorf("%s has %q", form, wrong)
			}
		}
	}
	if html := got.Parts(t)["text/html"]; !strings.Contains(html, `lang="ar" dir="rtl"`) || !strings.Contains(html, "آخرون") {
		t.Errorf("the mail isn't Arabic:\n%.500s", html)
	}
}

// TestLinks: a link is of one person, made by a key of this server, and of any that it keeps.
func TestLinks(t *testing.T) {
	keys := [][]byte{[]byte("new"), []byte("old")}
	made := mail.Links{At: "https://ubl.example", Keys: func() [][]byte { return keys[1:] }}
	kept := mail.Links{At: "https://ubl.example", Keys: func() [][]byte { return keys }}
	other := mail.Links{Keys: func() [][]byte { return [][]byte{[]byte("other")} }}
	link, err := made.To(bob, "de")
	if err != nil || !strings.HasSuffix(link, "?lang=de") {
		t.Fatalf("the link is %s, %v", link, err)
	}
	token := strings.TrimSuffix(strings.TrimPrefix(link, "https://ubl.example"+mail.StopPath), "?lang=de")
	if of, ok := kept.Read(token); !ok || of != bob {
		t.Errorf("a link of a key that is kept is of %q", of)
	}
	if _, ok := other.Read(token); ok {
		t.Error("a link of another server counts")
	}
	name, sum, _ := strings.Cut(token, ".")
	foreign, _ := kept.To("t:example.org|p:bob", "")
	foreign, _, _ = strings.Cut(strings.TrimPrefix(foreign, "https://ubl.example"+mail.StopPath), ".")
	for _, wrong := range []string{"", ".", name, name + ".", "." + sum, foreign + "." + sum, name + "." + sum[1:], token + "A", strings.Repeat("A", 1<<20)} {
		if of, ok := kept.Read(wrong); ok {
			t.Errorf("%.80q is of %q", wrong, of)
		}
	}
	if _, err := (mail.Links{Keys: func() [][]byte { return nil }}).To(bob, ""); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("without a key a link is %v", err)
	}
}
