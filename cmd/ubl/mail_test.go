package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
	"ubl/mail"
	"ubl/test/mailserver"
)

// TestMailFlags: what doesn't go together is refused before anything is touched.
func TestMailFlags(t *testing.T) {
	given := mailFlags{MailServer: "smtp.example.com:587", MailTLS: mail.StartTLS, MailFrom: "ubl@example.com"}
	for name, change := range map[string]func(*mailFlags){
		"no port":                    func(f *mailFlags) { f.MailServer = "smtp.example.com" },
		"no sender":                  func(f *mailFlags) { f.MailFrom = "" },
		"a sender with a name":       func(f *mailFlags) { f.MailFrom = "UBL <ubl@example.com>" },
		"a sender without a server":  func(f *mailFlags) { f.MailServer = "" },
		"no TLS over a network":      func(f *mailFlags) { f.MailTLS = mail.None },
		"a password without TLS":     func(f *mailFlags) { f.MailServer, f.MailTLS, f.MailUser = "127.0.0.1:25", mail.None, "u" },
		"a password of nobody's":     func(f *mailFlags) { f.MailPasswordFile = "password" },
		"a sender on several lines":  func(f *mailFlags) { f.MailFrom = "ubl@example.com\r\nBcc: eve@example.com" },
		"a port that is a word":      func(f *mailFlags) { f.MailServer = "smtp.example.com:smtp" },
		"a server that is only port": func(f *mailFlags) { f.MailServer = ":25" },
	} {
		f := given
		change(&f)
		if err := f.check(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	local := mailFlags{MailServer: "127.0.0.1:25", MailTLS: mail.None, MailFrom: "ubl@example.com"}
	for _, f := range []mailFlags{{}, given, local} {
		if err := f.check(); err != nil {
			t.Errorf("%+v is refused: %v", f, err)
		}
	}
}

// TestDoctorGoesToTheMailServer: it says whether that answers, by TLS, and lets the user in, and never
// shows the password.
func TestDoctorGoesToTheMailServer(t *testing.T) {
	at := mailserver.New(t, mailserver.Options{User: "ubl", Password: "right"})
	ca := filepath.Join(t.TempDir(), "ca.pem")
	works(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: at.Certificate.Raw}), 0o644))
	for _, test := range []struct {
		flags          []string
		password, want string
	}{
		{[]string{"--mail-ca", ca, "--mail-user", "ubl"}, "right", "ok    mail"},
		{[]string{"--mail-ca", ca}, "", "ok    mail"},
		{[]string{"--mail-ca", ca, "--mail-user", "ubl"}, "hunter2", "fail  mail"},
		{[]string{"--mail-user", "ubl"}, "right", "fail  mail"}, // nobody knows its certificate
	} {
		var out, said bytes.Buffer
		args := append([]string{"doctor", "--data", filepath.Join(t.TempDir(), "none"), "--url", "http://127.0.0.1:1", "--mail-server", at.Addr, "--mail-from", "ubl@example.com"}, test.flags...)
		env := []string{"HOME=" + t.TempDir()}
		if test.password != "" {
			env = append(env, mailPassword+"="+test.password)
		}
		Run(t.Context(), args, strings.NewReader(""), &out, &said, env)
		if !strings.Contains(out.String(), test.want) || strings.Contains(out.String()+said.String(), "hunter2") {
			t.Errorf("%v says\n%s%s", test.flags, &out, &said)
		}
	}
	if got := at.Take(); len(got) > 0 {
		t.Errorf("the server got %d mails", len(got))
	}
}

// TestMailsEndByALink: a program that takes a mail's link by one click, as one that a person clicks,
// needs no sign-in, and ends the mails of that person alone.
func TestMailsEndByALink(t *testing.T) {
	at := mailserver.New(t, mailserver.Options{Plain: true})
	n, ask := askedNode(t, func(c *serveCmd) {
		c.mailFlags = mailFlags{MailServer: at.Addr, MailTLS: mail.None, MailFrom: "ubl@example.com"}
	})
	person := func(who string) (p ubl.Person) {
		w := ask(who, "GET", "/api/me/notifications", "")
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", who, w.Code, w.Body)
		}
		return p
	}
	const ana, bob = "ana@acme.com", "bob@acme.com"
	for _, who := range []string{ana, bob} {
		if w := ask(who, "PATCH", "/api/me/notifications", `{"mail":"always"}`); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	p := person(bob)
	if p.Mail == nil || p.Mail.Address != bob {
		t.Errorf("bob is mailed at %+v", p.Mail)
	}
	var me struct {
		TenantID ubl.TenantID `json:"tenant_id"`
	}
	works(t, json.Unmarshal(ask(bob, "GET", "/api/whoami", "").Body.Bytes(), &me))
	link, err := n.links.To(ubl.PersonName(me.TenantID, p.UserID), "en")
	works(t, err)
	if w := ask("stranger@example.net", "GET", link, ""); w.Code != http.StatusOK || person(bob).Preferences.Mail != ubl.MailAlways {
		t.Errorf("a look at the page is answered %d", w.Code)
	}
	if w := ask("stranger@example.net", "POST", link, "List-Unsubscribe=One-Click"); w.Code != http.StatusOK || person(bob).Preferences.Mail != ubl.MailOff {
		t.Errorf("a click is answered %d %s", w.Code, w.Body)
	}
	if got := person(ana).Preferences.Mail; got != ubl.MailAlways {
		t.Errorf("ana's mails are %q", got)
	}
	if w := ask("stranger@example.net", "POST", mail.StopPath+"x.y", ""); w.Code != http.StatusNotFound {
		t.Errorf("a link of nobody's is answered %d", w.Code)
	}
}
