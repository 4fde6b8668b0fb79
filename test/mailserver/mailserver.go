// Package mailserver is a mail server for tests: that of emersion/go-smtp, with a certificate that its
// own Roots know. It takes mails, and refuses, hangs or loses its answer as a test says.
package mailserver

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Options say how the server is reached; the zero value has STARTTLS, and lets anybody in.
type Options struct {
	// Implicit has TLS from the first byte, Plain none at all.
	Implicit, Plain bool
	// User signs in with Password, or nothing is taken; "" asks nobody.
	User, Password string
}

// Got is a mail that came.
type Got struct {
	From, To string
	Secure   bool // by TLS
	*mail.Message
	Body string // with its parts, as it came
}

// Step is where a server refuses.
type Step string

// Steps.
const (
	From Step = "MAIL FROM"
	To   Step = "RCPT TO"
	Data Step = "DATA"
)

// Server is one that runs until the end of its test.
type Server struct {
	Addr string
	// Certificate is the server's, which Roots know.
	Certificate *x509.Certificate
	Roots       *x509.CertPool

	o       Options
	release chan struct{}

	mu     sync.Mutex
	got    []Got
	refuse func(Step, string) int
	hangs  bool
	loses  int
}

// New starts one.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	known := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate, which is of 127.0.0.1
	defer known.Close()
	s := &Server{o: o, release: make(chan struct{}), Certificate: known.Certificate(), Roots: known.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{s: s, c: c}, nil }))
	server.ErrorLog = log.New(io.Discard, "", 0)
	server.MaxMessageBytes = 1 << 20
	config := &tls.Config{Certificates: known.TLS.Certificates}
	if !o.Plain && !o.Implicit {
		server.TLSConfig = config
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = ln.Addr().String()
	if o.Implicit {
		ln = tls.NewListener(ln, config)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(ln)
	}()
	t.Cleanup(func() {
		close(s.release)
		_ = server.Close()
		<-ended
	})
	return s
}

// Take takes what has come.
func (s *Server) Take() []Got {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

// Refuse has the server answer with a code where how says one, 0 for none; nil takes all.
func (s *Server) Refuse(how func(step Step, address string) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = how
}

// Hang has the server answer nothing more, until it is told otherwise.
func (s *Server) Hang(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = on
}

// Lose has the server take so many mails whose senders never hear that.
func (s *Server) Lose(mails int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loses = mails
}

// session is one connection.
type session struct {
	s        *Server
	c        *smtp.Conn
	signedIn bool
	from, to string
}

func (x *session) at(step Step, address string) error {
	x.s.mu.Lock()
	hangs, code := x.s.hangs, 0
	if x.s.refuse != nil {
		code = x.s.refuse(step, address)
	}
	x.s.mu.Unlock()
	if hangs {
		<-x.s.release
	}
	switch {
	case code != 0:
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 0, 0}, Message: "as the test says about " + address}
	case x.s.o.User != "" && !x.signedIn:
		return smtp.ErrAuthRequired
	}
	return nil
}

// AuthMechanisms implements smtp.AuthSession.
func (x *session) AuthMechanisms() []string {
	if x.s.o.User == "" {
		return nil
	}
	return []string{sasl.Plain}
}

// Auth implements smtp.AuthSession.
func (x *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != x.s.o.User || password != x.s.o.Password {
			return smtp.ErrAuthFailed
		}
		x.signedIn = true
		return nil
	}), nil
}

func (x *session) Mail(from string, _ *smtp.MailOptions) error {
	x.from = from
	return x.at(From, from)
}

func (x *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	x.to = to
	return x.at(To, to)
}

func (x *session) Data(r io.Reader) error {
	if err := x.at(Data, x.to); err != nil {
		return err
	}
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	_, secure := x.c.TLSConnectionState()
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.got = append(x.s.got, Got{From: x.from, To: x.to, Secure: secure, Message: m, Body: string(body)})
	if x.s.loses > 0 {
		x.s.loses--
		_ = x.c.Conn().Close()
	}
	return nil
}

func (x *session) Reset()        {}
func (x *session) Logout() error { return nil }

// Parts are the parts of a mail by their types, as they read once their encoding is undone.
func (g Got) Parts(t testing.TB) map[string]string {
	t.Helper()
	return parts(t, g.Header.Get("Content-Type"), g.Body)
}
