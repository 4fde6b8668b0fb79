// Package mail hands mails to the operator's mail server by SMTP. The library go-mail speaks SMTP and
// writes MIME; this package says what a mail says, for how long the server may take, and what its
// answer means.
//
// # Data
//
// The package keeps nothing. The caller gives it what a mail tells, and each attempt composes the mail
// anew, under one Message-ID. The link by which somebody ends their mails holds a name and a MAC of it ([Links]).
//
// # What fails
//
// The server has [timeout] in all, and takes few of a node's mails at a time: more are overloaded.
// A 5xx about the recipient or the mail is forbidden, which is final. All else may pass: 4xx, a server
// that hangs or is gone, one that refuses our sign-in or sender. A server that took a mail and whose
// answer was lost gets it again, with the same Message-ID.
//
// Errors name codes and steps. They hold nothing that the server said, which may quote addresses.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	gomail "github.com/wneessen/go-mail"

	"ubl"
)

// How the way to the server is kept from others.
const (
	StartTLS = "starttls" // TLS begins on a plain connection, or nothing is sent
	TLS      = "tls"      // from the first byte
	None     = "none"     // for a server on this machine
)

// Options are what a Service is made of.
type Options struct {
	// Server is HOST:PORT, TLS one of the above.
	Server, TLS string
	// Roots are whom certificates may be of; nil for the system's.
	Roots *x509.CertPool
	// User signs in; "" for nobody.
	User, Password string
	// From is the address of the sender.
	From string
	// At is where browsers reach this server, without a slash at the end.
	At    string
	Links Links
	Now   func() time.Time
}

// Service implements [ubl.Mailer].
type Service struct {
	o      Options
	host   string
	port   int
	places chan struct{}

	sent, failed, refused, late atomic.Int64
}

const (
	// timeout bounds a mail in all, step each part of the talk with the server.
	timeout = 12 * time.Second
	step    = 8 * time.Second
	// atOnce is how many connections a node has to the server.
	atOnce = 8
	// lateAfter is how long after it was due a mail counts as late.
	lateAfter = 10 * time.Minute
)

// place takes the server's address apart.
func (o *Options) place() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(o.Server)
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(text, 10, 16)
	return host, int(number), err
}

// Validate refuses a server or a sender that can't be one.
func (o *Options) Validate() error {
	if host, port, err := o.place(); err != nil || host == "" || port == 0 {
		return errors.New("the mail server is not HOST:PORT")
	}
	if a, err := netmail.ParseAddress(o.From); err != nil || a.Address != o.From {
		return errors.New("the sender of mails is not an address such as ubl@example.com")
	}
	return nil
}

// New makes one of options that are valid.
func New(o Options) *Service {
	host, port, _ := o.place()
	return &Service{o: o, host: host, port: port, places: make(chan struct{}, atOnce)}
}

// Stats are what became of mails since the start.
type Stats struct {
	Sent    int64 // the server has them
	Failed  int64 // attempts that may be made again
	Refused int64 // for good
	Late    int64 // of those sent
}

// Stats counts.
func (s *Service) Stats() Stats {
	return Stats{s.sent.Load(), s.failed.Load(), s.refused.Load(), s.late.Load()}
}

// Mail implements [ubl.Mailer].
func (s *Service) Mail(ctx context.Context, m ubl.UnreadMail) error {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return ubl.Errorf(ubl.CodeOverloaded, "the mail server is slow: enough is under way there")
	}
	err := s.mail(ctx, m)
	switch {
	case err == nil:
		s.sent.Add(1)
		if s.o.Now().Sub(m.Due.Std()) > lateAfter {
			s.late.Add(1)
		}
	case ubl.CodeOf(err) == ubl.CodeForbidden:
		s.refused.Add(1)
	default:
		s.failed.Add(1)
	}
	return err
}

func (s *Service) mail(ctx context.Context, m ubl.UnreadMail) error {
	msg, err := s.compose(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := s.client(ctx, true)
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if msg.IsDelivered() { // what fails behind that is only the goodbye
		return nil
	}
	return meaning(err)
}

// client is one for a single connection, which ends with ctx.
func (s *Service) client(ctx context.Context, signIn bool) (*gomail.Client, error) {
	policy := gomail.NoTLS
	if s.o.TLS == StartTLS {
		policy = gomail.TLSMandatory
	}
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(step), gomail.WithTLSConfig(s.tls()), gomail.WithTLSPolicy(policy), gomail.WithDialContextFunc(s.dial(ctx)),
	}
	if signIn && s.o.User != "" {
		options = append(options, gomail.WithUsername(s.o.User), gomail.WithPassword(s.o.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, fmt.Errorf("couldn't set up a client for the mail server: %w", err)
	}
	return client, nil
}

func (s *Service) tls() *tls.Config {
	return &tls.Config{ServerName: s.host, RootCAs: s.o.Roots, MinVersion: tls.VersionTLS12}
}

// dial connects. The library gives each step a time of its own; the connection ends with whole, so
// that a server which is slow at each is given up, too.
func (s *Service) dial(whole context.Context) gomail.DialContextFunc {
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		if s.o.TLS == TLS {
			conn, err = (&tls.Dialer{Config: s.tls()}).DialContext(ctx, network, address)
		} else {
			conn, err = new(net.Dialer).DialContext(ctx, network, address)
		}
		if err == nil {
			context.AfterFunc(whole, func() { _ = conn.Close() })
		}
		return conn, err
	}
}

// compose writes a mail. Nothing of it that people wrote is in a header, but for the address.
func (s *Service) compose(m ubl.UnreadMail) (*gomail.Msg, error) {
	link, err := s.o.Links.To(m.Of, m.Language)
	if err != nil {
		return nil, err
	}
	l := newLetter(m, s.o.At, link)
	html, err := l.html()
	if err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(s.o.From, "@")
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.FromFormat("UBL", s.o.From); err != nil {
		return nil, fmt.Errorf("couldn't name the sender of a mail: %w", err)
	}
	if a, err := netmail.ParseAddress(m.To); err != nil || a.Address != m.To || msg.To(m.To) != nil {
		return nil, ubl.Errorf(ubl.CodeForbidden, "nobody can be mailed at this address")
	}
	msg.Subject(l.subject())
	msg.SetMessageIDWithValue(messageID(m.ID) + "@" + domain)
	msg.SetDateWithValue(s.o.Now())
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	if msg.SetListUnsubscribeOneClick(link) != nil { // one click takes https
		msg.SetListUnsubscribe(link)
	}
	msg.SetBodyString(gomail.TypeTextPlain, l.text())
	msg.AddAlternativeString(gomail.TypeTextHTML, html)
	return msg, nil
}

// messageID is an id as it may stand in a Message-ID.
func messageID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '.'
	}, id)
}

// wantsSignIn is a 5xx to a recipient that isn't about them.
const wantsSignIn = 530

// meaning is what a failure to send says.
func meaning(err error) error {
	failed, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return ubl.Errorf(ubl.CodeUnavailable, "couldn't sign in to the mail server, or reach it: ubl doctor says which")
	}
	code := failed.ErrorCode()
	switch failed.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		if code >= 500 && code != wantsSignIn {
			return ubl.Errorf(ubl.CodeForbidden, "the mail server refused the address with %d", code)
		}
	}
	if code == 0 {
		return ubl.Errorf(ubl.CodeUnavailable, "the mail server didn't answer in time")
	}
	return ubl.Errorf(ubl.CodeUnavailable, "the mail server answered %d", code)
}

// Step is a part of the way to the server.
type Step string

// Steps, in their order.
const (
	Reaches Step = "connection"
	Secures Step = "TLS"
	SignsIn Step = "sign-in"
)

// Check goes all the way to the server and sends nothing. It says at which step it failed.
func (s *Service) Check(ctx context.Context) (Step, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.o.Server)
	if err != nil {
		return Reaches, err
	}
	_ = conn.Close()
	for _, part := range []Step{Secures, SignsIn} {
		client, err := s.client(ctx, part == SignsIn)
		if err != nil {
			return part, err
		}
		way, err := client.DialToSMTPClientWithContext(ctx)
		if err != nil {
			return part, err
		}
		_ = client.CloseWithSMTPClient(way)
	}
	return "", nil
}
