package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"ubl/mail"
	"ubl/secretfile"
	"ubl/transport/envelope"
)

// mailPassword holds the password of the user that the flags name.
const mailPassword = "UBL_MAIL_PASSWORD"

// mailFlags say which mail server takes mails for people whom nothing else reaches. All nodes of a
// cluster are given the same.
type mailFlags struct {
	MailServer       string `help:"SMTP server by which people learn of unread messages." placeholder:"HOST:PORT"`
	MailTLS          string `name:"mail-tls" default:"starttls" enum:"starttls,tls,none" help:"How the way there is kept: starttls, tls, or none to a server on this machine."`
	MailCA           string `name:"mail-ca" type:"path" help:"CA certificates that the server's is under, instead of the system's." placeholder:"FILE"`
	MailUser         string `help:"Who signs in there; nobody unless given." placeholder:"NAME"`
	MailPasswordFile string `type:"path" help:"File with that user's password; else it is the variable UBL_MAIL_PASSWORD." placeholder:"FILE"`
	MailFrom         string `help:"Address that mails come from." placeholder:"EMAIL"`
}

// check refuses flags that don't go together.
func (f *mailFlags) check() error {
	if f.MailServer == "" {
		if f.MailFrom+f.MailUser+f.MailPasswordFile+f.MailCA != "" {
			return usagef("--mail-from, --mail-user, --mail-password-file and --mail-ca go with --mail-server")
		}
		return nil
	}
	o := mail.Options{Server: f.MailServer, From: f.MailFrom}
	if err := o.Validate(); err != nil {
		return usagef("--mail-server takes --mail-from, too: %v", err)
	}
	switch {
	case f.MailTLS == mail.None && !envelope.Loopback(hostOf(f.MailServer)):
		return usagef("--mail-tls none is for a mail server on this machine alone: others could read what is mailed")
	case f.MailTLS == mail.None && f.MailUser != "":
		return usagef("--mail-user goes with TLS: its password would be sent as it is")
	case f.MailUser == "" && f.MailPasswordFile != "":
		return usagef("--mail-password-file goes with --mail-user")
	}
	return nil
}

// options are what the flags say, with the password; nil for no mail server.
func (f *mailFlags) options(p *program) (*mail.Options, error) {
	if f.MailServer == "" {
		return nil, nil
	}
	o := &mail.Options{Server: f.MailServer, TLS: f.MailTLS, User: f.MailUser, From: f.MailFrom, Now: p.now}
	var err error
	if f.MailUser != "" {
		if o.Password, err = credential(p.env, f.MailPasswordFile, mailPassword, "the mail server's password, on one line"); err != nil {
			return nil, err
		}
	}
	if f.MailCA != "" {
		o.Roots, err = roots(f.MailCA)
	}
	return o, err
}

// credential is what a file has, or else a variable where no file is given. Holds says what belongs there.
func credential(env map[string]string, file, variable, holds string) (text string, err error) {
	place := "the file " + file
	if file != "" {
		text, err = secretfile.Read(file, holds)
	} else {
		place, text = "the variable "+variable, strings.TrimSpace(env[variable])
	}
	if err == nil && (text == "" || len(text) > maxSecret || strings.ContainsAny(text, "\r\n")) {
		err = secretfile.Wrong(place, holds)
	}
	return text, err
}

// roots reads CA certificates.
func roots(path string) (*x509.CertPool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the CA certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("the file %s has no certificate in PEM", path)
	}
	return pool, nil
}

// mails has the node send mails, where there are options.
func (n *node) mails(o *mail.Options) {
	if o == nil {
		return
	}
	n.links = &mail.Links{At: o.At, Keys: func() [][]byte {
		if n.key.Load() == nil {
			return nil
		}
		return n.derived("mail links")()
	}}
	with := *o
	with.Links = *n.links
	n.mail = mail.New(with)
}

// mails tells what became of mails, where any are sent.
func mails(n *node) []prometheus.Collector {
	if n.mail == nil {
		return nil
	}
	return []prometheus.Collector{
		counter("ubl_mails_sent_total", "Mails that the mail server has taken.", func() int64 { return n.mail.Stats().Sent }),
		counter("ubl_mails_failed_total", "Attempts to send a mail that failed and are made again.", func() int64 { return n.mail.Stats().Failed }),
		counter("ubl_mails_refused_total", "Mails that the mail server has refused for good.", func() int64 { return n.mail.Stats().Refused }),
		counter("ubl_mails_late_total", "Mails that left more than ten minutes after they were due.", func() int64 { return n.mail.Stats().Late }),
	}
}

// mail goes to the mail server, and sends nothing.
func (d *doctor) mail(ctx context.Context) finding {
	if d.MailServer == "" {
		return moot("none is given (--mail-server)")
	}
	if err := d.mailFlags.check(); err != nil {
		return broken("see ubl serve --help", "%v", err)
	}
	o, err := d.mailFlags.options(d.p)
	if err != nil {
		return broken("see ubl serve --help", "%v", err)
	}
	step, err := mail.New(*o).Check(ctx)
	switch {
	case step == mail.Reaches:
		return broken("see that the server runs, and that firewalls let this machine through to it", "%s doesn't answer: %v", o.Server, err)
	case step == mail.Secures:
		return broken("see --mail-tls and --mail-ca, and the server's certificate", "%s answers, but not with --mail-tls %s: %v", o.Server, o.TLS, err)
	case step == mail.SignsIn:
		return broken("see --mail-user and its password", "%s answers, and doesn't let %s in", o.Server, o.User)
	case o.TLS == mail.None:
		return well("%s answers, without TLS", o.Server)
	case o.User == "":
		return well("%s answers, with TLS; nobody signs in", o.Server)
	}
	return well("%s answers, with TLS, and lets %s in", o.Server, o.User)
}
