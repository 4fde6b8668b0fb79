package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"ubl"
	"ubl/bridge/irc"
	"ubl/transport/envelope"
)

// ircPassword holds the password of the login that the flags name.
const ircPassword = "UBL_IRC_PASSWORD"

// bridgeCmd connects rooms with other systems. Bridges are clients as any others.
type bridgeCmd struct {
	IRC bridgeIRCCmd `cmd:"" name:"irc" help:"Connect a room with channels of IRC, as an agent."`
}

type bridgeIRCCmd struct {
	remote
	oneRoom
	Server       string        `required:"" help:"The IRC server; the port is 6697 unless given." placeholder:"HOST[:PORT]" config:"-"`
	Channel      []string      `required:"" help:"A channel; may be given again." placeholder:"#NAME" config:"-"`
	Nick         string        `default:"ubl" help:"What the bridge is called on IRC. Where that is taken, it takes one like it." config:"-"`
	Login        string        `help:"Account there, for SASL PLAIN; none unless given." placeholder:"NAME" config:"-"`
	PasswordFile string        `type:"path" help:"File with its password; else it is the variable UBL_IRC_PASSWORD." placeholder:"FILE" config:"-"`
	CA           string        `name:"ca" type:"path" help:"CA certificates that the server's is under, instead of the system's." placeholder:"FILE" config:"-"`
	Plain        bool          `help:"Connect without TLS, as on one's own machine; the port is 6667 unless given." config:"-"`
	Pace         time.Duration `default:"1s" help:"How long a line takes on average: servers throw out who says more." config:"-"`
	State        string        `type:"path" default:"ubl-bridge-irc.json" help:"The bridge's own file: how far each channel was told, and what isn't posted yet." placeholder:"FILE" config:"-"`
	Check        bool          `help:"Sign in on both sides, enter the channels, and leave, without a word." config:"-"`
}

// What IRC takes for a nick and a channel; servers may bound them further.
var (
	ircNick    = regexp.MustCompile("^[A-Za-z\\[\\]\\\\`_^{|}][-A-Za-z0-9\\[\\]\\\\`_^{|}]{0,30}$")
	ircChannel = regexp.MustCompile(`^[#&+!][^\x00-\x20,:\x7f]{1,63}$`)
)

// Run passes on what is said until ctx ends.
func (c *bridgeIRCCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	o, err := c.options(p)
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	me, err := server.agent(ctx)
	if err != nil {
		return err
	}
	o.RoomID, o.Self, o.Log = room, me, slog.New(slog.NewTextHandler(p.err, nil))
	bridged := &bridgedRoom{server: server, room: room, log: o.Log, now: p.now}
	o.Room = bridged
	if _, err := bridged.Head(ctx); err != nil {
		return inRoom(err)
	}
	if !c.Check {
		server.patient, server.tries = true, math.MaxInt
		return irc.Run(ctx, *o)
	}
	if err := irc.Check(ctx, *o); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "All is well: %s reads %s, and enters %s.\n", me, room, strings.Join(c.Channel, ", "))
	return err
}

// options are what the flags say about IRC.
func (c *bridgeIRCCmd) options(p *program) (*irc.Options, error) {
	if !ircNick.MatchString(c.Nick) {
		return nil, usagef("--nick is no name on IRC: letters, digits and _-[]\\^{}|, and no digit first")
	}
	for _, channel := range c.Channel {
		if !ircChannel.MatchString(channel) {
			return nil, thenDo(usagef("--channel is not a channel's name, like #ubl"), "write '#name' in quotes: # begins a comment in shells")
		}
	}
	at := c.Server
	if _, _, err := net.SplitHostPort(at); err != nil {
		port := "6697"
		if c.Plain {
			port = "6667"
		}
		at = net.JoinHostPort(strings.Trim(at, "[]"), port)
	}
	host, _, _ := net.SplitHostPort(at)
	switch {
	case host == "" || strings.ContainsAny(host, "/ "):
		return nil, usagef("--server is no host, like irc.example.org or irc.example.org:6697")
	case c.Pace <= 0:
		return nil, usagef("--pace is a time, like 500ms")
	case c.Login == "" && c.PasswordFile != "":
		return nil, usagef("--password-file goes with --login")
	case c.Login != "" && c.Plain && !envelope.Loopback(host):
		return nil, usagef("--login goes with TLS: its password would be sent as it is")
	}
	o := &irc.Options{Server: at, Channels: c.Channel, Nick: c.Nick, State: c.State, Plain: c.Plain, Login: c.Login, Pace: c.Pace}
	return o, c.secrets(p, o)
}

// secrets reads what stands in files.
func (c *bridgeIRCCmd) secrets(p *program, o *irc.Options) (err error) {
	if c.Login != "" {
		if o.Password, err = credential(p.env, c.PasswordFile, ircPassword, "the password of the IRC account, on one line"); err != nil {
			return err
		}
	}
	if c.CA != "" {
		o.Roots, err = roots(c.CA)
	}
	return err
}

// agent is the caller's id. A bridge wouldn't pass on what a person writes whose token it has.
func (c *client) agent(ctx context.Context) (ubl.UserID, error) {
	var me myself
	if err := c.call(ctx, "GET", "/api/whoami", nil, &me); err != nil {
		return "", err
	}
	if !me.Identity.IsService {
		return "", thenDo(usagef("the token is a person's, whose own messages would not be passed on"), "make the bridge an agent: \"ubl token OWNER --service irc --room ROOM\"")
	}
	return me.Identity.UserID, nil
}

// namesFor is how long a bridge calls people what they were called.
const namesFor = 10 * time.Minute

// bridgedRoom is a room for a bridge, by the public API. It is safe for concurrent use.
type bridgedRoom struct {
	server *client
	room   ubl.RoomID
	log    *slog.Logger
	now    func() time.Time

	mu    sync.Mutex
	names people
	until time.Time // from when on they are asked for again
}

// ask is [client.call] that tries again where a server, or a proxy before it, is in trouble.
func (r *bridgedRoom) ask(ctx context.Context, method, path string, body, answer any) error {
	for n := 1; ; n++ {
		err := r.server.call(ctx, method, "/api/rooms/"+string(r.room)+path, body, answer)
		if !passing(err) || ctx.Err() != nil {
			return err
		}
		r.log.Warn("trying again", "because", err)
		r.server.pause(ctx, longer(time.Second, n, maxPause))
	}
}

// passing reports whether an error may be gone the next time, though the answer doesn't say so.
func passing(err error) bool {
	if foreign, ok := errors.AsType[*foreignError](err); ok {
		return foreign.status >= http.StatusInternalServerError
	}
	refusal, ok := errors.AsType[*apiError](err)
	return ok && refusal.body.Error.Code == ubl.CodeInternal
}

// Head implements [irc.Room].
func (r *bridgedRoom) Head(ctx context.Context) (int64, error) { return r.server.head(ctx, r.room) }

// Follow implements [irc.Room].
func (r *bridgedRoom) Follow(ctx context.Context, after int64, each func(context.Context, *ubl.Entry) error) error {
	f := &follower{server: r.server, room: r.room, last: after, note: func(text string) { r.log.Warn(text) }}
	f.each = func(ctx context.Context, h happening) error {
		e, err := h.entry()
		if err != nil {
			return err
		}
		return each(ctx, e)
	}
	return f.follow(ctx)
}

// entry is what happened as an entry, a message without its salt.
func (h happening) entry() (*ubl.Entry, error) {
	if h.kind == ubl.EventMessageCreated {
		m, err := formed[ubl.Message]("a message", h.raw)
		return m.Entry(ubl.Salt{}), err
	}
	e, err := formed[ubl.Entry]("an entry", h.raw)
	return &e, err
}

// Post implements [irc.Room].
func (r *bridgedRoom) Post(ctx context.Context, key, text string) error {
	var answer json.RawMessage
	err := r.ask(ctx, "POST", "/messages", sendBody{Type: ubl.TypeText, Body: ubl.Body{Text: text}, Key: key}, &answer)
	if refusal, ok := errors.AsType[*apiError](err); ok {
		switch refusal.body.Error.Code {
		case ubl.CodeValidation, ubl.CodeTooLarge, ubl.CodeIdempotencyConflict:
			return fmt.Errorf("%w: %w", irc.ErrRefused, err)
		}
	}
	return err
}

// Entry implements [irc.Room].
func (r *bridgedRoom) Entry(ctx context.Context, id ubl.MessageID) (*ubl.Entry, error) {
	var answer struct {
		Entry *ubl.Entry `json:"entry"`
	}
	err := r.ask(ctx, "GET", "/entries/"+string(id), nil, &answer)
	if refusal, ok := errors.AsType[*apiError](err); ok && refusal.body.Error.Code == ubl.CodeNotFound {
		return nil, nil
	}
	return answer.Entry, err
}

// Name implements [irc.Room].
func (r *bridgedRoom) Name(ctx context.Context, id ubl.UserID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); now.After(r.until) {
		r.names, r.until = people{server: r.server}, now.Add(namesFor)
	}
	return r.names.called(ctx, id)
}

// Link implements [irc.Room]: it leads to the app, which asks who is there.
func (r *bridgedRoom) Link(e *ubl.Entry) string {
	thread := ""
	if e.Thread != nil {
		thread = "/thread/" + string(*e.Thread)
	}
	return fmt.Sprintf("%s/ui/rooms/%s%s?at=%d", r.server.base, r.room, thread, e.RoomSeq)
}
