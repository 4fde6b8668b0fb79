package irc

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ergochat/irc-go/ircevent"
	"github.com/ergochat/irc-go/ircmsg"
)

const (
	// answerWithin is how long the server may take to answer, and keepAlive how often it is asked
	// whether it is still there.
	answerWithin = 30 * time.Second
	keepAlive    = time.Minute
	// lingering is how long a goodbye may take, and a line that is under way when the bridge stops.
	lingering = 2 * time.Second
)

// session is one connection to an IRC server. Its callbacks run one after another.
type session struct {
	*Options
	conn  *ircevent.Connection
	heard func(nick, text, id string)
	leave context.CancelFunc // ends the connection soon, whatever the server does
	over  chan struct{}      // closed when the connection has ended

	mu      sync.Mutex
	lines   int // that were said
	joined  map[string]bool
	changed chan struct{}            // closed when joined has changed
	pongs   map[string]chan struct{} // by the token of the PING
	refused map[string]string        // why the server didn't pass a line on, by channel
	why     string                   // the server's last word on why it lets us not in
	denied  bool                     // it doesn't know the password
}

// errDenied says that the IRC server doesn't take the password: trying again only makes it ban us.
var errDenied = errors.New("the IRC server doesn't take the login or its password")

// connect signs in, and returns once the server has said welcome. heard is called for what others
// say in the channels; it may take a moment, no more.
func connect(ctx context.Context, o *Options, heard func(nick, text, id string)) (*session, error) {
	s := &session{Options: o, heard: heard, over: make(chan struct{}), joined: map[string]bool{}, changed: make(chan struct{}),
		pongs: map[string]chan struct{}{}, refused: map[string]string{}}
	ctx, s.leave = context.WithCancel(ctx)
	s.conn = &ircevent.Connection{
		Server: o.Server, Nick: o.Nick, User: "ubl", RealName: "A bridge to a room of UBL", QuitMessage: "the bridge stops",
		UseTLS: !o.Plain, TLSConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}, RequestCaps: []string{"message-tags"},
		SASLLogin: o.Login, SASLPassword: o.Password, Timeout: answerWithin, KeepAlive: keepAlive,
		Log: slog.NewLogLogger(o.Log.Handler(), slog.LevelInfo), DialContext: dialer(ctx),
	}
	s.listen()
	if err := s.conn.Connect(); err != nil {
		s.leave()
		return nil, s.because(err)
	}
	go func() {
		defer s.leave()
		s.conn.Loop() // ends where the connection does: the callback of its end makes it quit
		close(s.over)
	}()
	return s, nil
}

// dialer makes connections that end soon after ctx does, whatever the library waits for.
func dialer(ctx context.Context) func(context.Context, string, string) (net.Conn, error) {
	return func(dialing context.Context, network, address string) (net.Conn, error) {
		dialing, cancel := context.WithCancel(dialing)
		defer context.AfterFunc(ctx, cancel)()
		conn, err := (&net.Dialer{}).DialContext(dialing, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { time.AfterFunc(lingering, func() { conn.Close() }) })
		}
		return conn, err
	}
}

// because is why signing in failed, in the server's own words where it has said some.
func (s *session) because(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.denied:
		return errDenied
	case s.why != "":
		return fmt.Errorf("%w: it says %q", err, s.why)
	}
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return fmt.Errorf("%w (--ca says whom to trust instead)", err)
	}
	return err
}

// quit says goodbye and waits until the connection has ended.
func (s *session) quit() {
	s.conn.Quit()
	s.leave()
	<-s.over
}

// Numerics of the server that the library has no use for.
const (
	errNoSuchNick, errNoSuchChannel, errCannotSend, errTooMany = "401", "403", "404", "405"
	errBadNick, errUnavailable, errNotIn, errBadPassword       = "432", "437", "442", "464"
	errBanned, errFullChannel, errInviteOnly, errBannedFromIt  = "465", "471", "473", "474"
	errBadKey, errBadMask, errNeedsAccount, errForwarded       = "475", "476", "477", "470"
)

// listen has the connection call the session.
func (s *session) listen() {
	on := func(call func(ircmsg.Message), commands ...string) {
		for _, c := range commands {
			s.conn.AddCallback(c, call)
		}
	}
	s.conn.AddDisconnectCallback(func(ircmsg.Message) { s.conn.Quit() })
	on(func(m ircmsg.Message) { s.membership(param(m, 0), m.Nick(), true) }, "JOIN")
	on(func(m ircmsg.Message) { s.membership(param(m, 0), m.Nick(), false) }, "PART")
	on(func(m ircmsg.Message) { s.membership(param(m, 0), param(m, 1), false) }, "KICK")
	on(func(m ircmsg.Message) { s.pong(last(m)) }, "PONG")
	on(s.said, "PRIVMSG")
	on(s.refuse, errNoSuchNick, errNoSuchChannel, errCannotSend, errNotIn)
	on(s.keptOut, errNoSuchChannel, errTooMany, errUnavailable, errFullChannel, errInviteOnly, errBannedFromIt, errBadKey, errBadMask, errNeedsAccount, errForwarded)
	on(func(m ircmsg.Message) { s.note(last(m), false) }, "ERROR", errBadNick, errBanned)
	on(func(m ircmsg.Message) { s.note(last(m), true) }, ircevent.ERR_SASLFAIL, errBadPassword)
}

func param(m ircmsg.Message, i int) string {
	if i < len(m.Params) {
		return m.Params[i]
	}
	return ""
}

func last(m ircmsg.Message) string { return param(m, len(m.Params)-1) }

func (s *session) note(why string, denied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why, s.denied = why, s.denied || denied
}

// self reports whether a nick is our own.
func (s *session) self(nick string) bool { return folded(nick) == folded(s.conn.CurrentNick()) }

func (s *session) membership(channel, nick string, in bool) {
	if !s.self(nick) || !s.named(channel) {
		return // a server may put us into other channels
	}
	s.mu.Lock()
	s.joined[folded(channel)] = in
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if in {
		s.Log.Info("in the channel", "channel", channel)
		return
	}
	s.Log.Warn("put out of the channel", "channel", channel)
	s.later(func() { s.join(channel) })
}

// named reports whether a channel is one that the bridge is for.
func (s *session) named(channel string) bool {
	return slices.ContainsFunc(s.Channels, func(c string) bool { return folded(c) == folded(channel) })
}

// keptOut tries again later to get in.
func (s *session) keptOut(m ircmsg.Message) {
	channel := param(m, 1)
	if s.isIn(channel) || !s.named(channel) {
		return // it is about a line, or about a nick
	}
	s.Log.Warn("not let into the channel", "channel", channel, "because", last(m))
	s.note(last(m), false)
	s.later(func() { s.join(channel) })
}

// later does something after a pause, unless the connection has ended.
func (s *session) later(do func()) {
	time.AfterFunc(s.Pause, func() {
		select {
		case <-s.over:
		default:
			do()
		}
	})
}

// join asks for the channels. What is asked of a connection that has ended is asked of the next.
func (s *session) join(channels ...string) {
	for _, c := range channels {
		_ = s.conn.Join(c)
	}
}

func (s *session) isIn(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined[folded(channel)]
}

// inside waits until the bridge is in a channel; false where the connection ended first.
func (s *session) inside(ctx context.Context, channel string) bool {
	for {
		s.mu.Lock()
		in, changed := s.joined[folded(channel)], s.changed
		s.mu.Unlock()
		if in {
			return true
		}
		select {
		case <-changed:
		case <-s.over:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// said hands on what others say in the channels.
func (s *session) said(m ircmsg.Message) {
	if !s.isIn(param(m, 0)) || s.self(m.Nick()) || len(m.Params) < 2 {
		return
	}
	_, id := m.GetTag("msgid")
	s.heard(m.Nick(), m.Params[1], id)
}

func (s *session) pong(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answered := s.pongs[token]; answered != nil {
		delete(s.pongs, token)
		close(answered)
	}
}

// refuse notes that a line wasn't passed on.
func (s *session) refuse(m ircmsg.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[folded(param(m, 1))] = cmp.Or(last(m), "no reason given")
}

// refusedError is the server's word on why it didn't pass a line on.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return "the IRC server didn't pass it on: " + e.why }

// errGone says that the connection ended before the server had answered.
var errGone = errors.New("the connection to the IRC server ended")

// say says one line in a channel, and returns when the server has it. Nobody else says anything in
// that channel meanwhile.
func (s *session) say(ctx context.Context, channel, text string) error {
	answered := make(chan struct{})
	s.mu.Lock()
	s.lines++
	token := fmt.Sprintf("said-%d", s.lines)
	s.pongs[token] = answered
	delete(s.refused, folded(channel))
	s.mu.Unlock()
	if s.conn.Privmsg(channel, text) != nil || s.conn.Send("PING", token) != nil {
		return errGone
	}
	ended := make(chan struct{})
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lingering, func() { close(ended) }) })()
	select {
	case <-answered:
	case <-s.over:
		return errGone
	case <-ended:
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.refused[folded(channel)]; why != "" {
		return &refusedError{why}
	}
	return nil
}

// fits is how many bytes of a text fit into one line when the server passes it on, under our name.
func (s *session) fits(channel string) int {
	const line, longestHost = 512, 63
	passedOn := fmt.Sprintf(":%s!~ubl@%s PRIVMSG %s :\r\n", s.conn.CurrentNick(), strings.Repeat("h", longestHost), channel)
	return line - len(passedOn)
}
