package irc

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"ubl"
)

// Room is a room as the public API shows it to a program with a token. Its methods wait out what
// passes, as a server that is restarted; their errors end the bridge.
type Room interface {
	// Head is the room_seq of the newest entry.
	Head(context.Context) (int64, error)
	// Follow calls each for the entries behind one, in order and each once, until each fails or
	// ctx ends. Messages of text come as entries, too.
	Follow(ctx context.Context, after int64, each func(context.Context, *ubl.Entry) error) error
	// Post sends a message, under one key once. An error that wraps [ErrRefused] is about this text
	// alone.
	Post(ctx context.Context, key, text string) error
	// Entry is one entry, nil where it isn't there any more.
	Entry(context.Context, ubl.MessageID) (*ubl.Entry, error)
	// Name is what to call somebody, and Link where people look at an entry.
	Name(context.Context, ubl.UserID) string
	Link(*ubl.Entry) string
}

// ErrRefused says that the server doesn't take a text.
var ErrRefused = errors.New("the room doesn't take it")

// Options say what a bridge connects. All but the last block must be given.
type Options struct {
	Room   Room
	RoomID ubl.RoomID
	// Self is the bridge's own agent, whose messages it passes over.
	Self     ubl.UserID
	Server   string // host:port
	Channels []string
	Nick     string
	State    string // the path of its file
	Log      *slog.Logger

	Plain    bool           // without TLS
	Roots    *x509.CertPool // nil for the system's
	Login    string         // of SASL PLAIN, "" for none
	Password string
	// Pace is how long a line takes on average, and Burst how many may come at once: servers throw
	// out who is faster. By default a second, and four.
	Pace  time.Duration
	Burst int
	// Retry is how long to wait before the first attempt to connect again, twice as long before each
	// that follows, up to MostRetry, until a connection has stood for that long. By default a second,
	// and two minutes.
	Retry, MostRetry time.Duration
	// Pause is how long to wait before a channel or a line that was refused is tried again. By
	// default half a minute.
	Pause time.Duration
}

func (o Options) withDefaults() *Options {
	o.Pace = cmp.Or(o.Pace, time.Second)
	o.Burst = cmp.Or(o.Burst, 4)
	o.Retry = cmp.Or(o.Retry, time.Second)
	o.MostRetry = cmp.Or(o.MostRetry, 2*time.Minute)
	o.Pause = cmp.Or(o.Pause, 30*time.Second)
	return &o
}

// attempts are how often a line is said that the server refuses.
const attempts = 3

// bridge is one that runs.
type bridge struct {
	*Options
	state *state
	limit *rate.Limiter

	mu      sync.Mutex
	session *session      // nil while there is no connection
	changed chan struct{} // closed when there is another
	fail    func(error)   // ends the bridge; set before there is a connection
}

// Run passes on what is said until ctx ends, which is no failure, or until going on makes no sense:
// where the room or the IRC server no longer takes the bridge, or its file can't be written.
func Run(ctx context.Context, options Options) error {
	o := options.withDefaults()
	unlock, err := lock(o.State)
	if err != nil {
		return err
	}
	defer unlock()
	kept, err := openState(o.State, o.RoomID, o.Server)
	if err != nil {
		return err
	}
	b := &bridge{Options: o, state: kept, limit: rate.NewLimiter(rate.Every(o.Pace), o.Burst), changed: make(chan struct{})}
	err = b.run(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// run ends the connection last, so that a line that is under way is answered still.
func (b *bridge) run(ctx context.Context) error {
	if err := b.begin(ctx); err != nil {
		return err
	}
	all, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.fail = stop
	connected, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		stop(b.keepConnected(connected))
	}()
	passing, within := errgroup.WithContext(all)
	passing.Go(func() error { return b.post(within) })
	for _, channel := range b.Channels {
		passing.Go(func() error { return b.tell(within, channel) })
	}
	err := passing.Wait()
	if cause := context.Cause(all); cause != nil && ctx.Err() == nil {
		err = cause
	}
	hangUp()
	<-hungUp
	return err
}

// begin has channels that are new begin with what is said from now on.
func (b *bridge) begin(ctx context.Context) error {
	for _, channel := range b.Channels {
		if _, known := b.state.place(channel); known {
			continue
		}
		head, err := b.Room.Head(ctx)
		if err == nil {
			err = b.state.tell(channel, place{RoomSeq: head})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepConnected connects again and again until ctx ends.
func (b *bridge) keepConnected(ctx context.Context) error {
	p := pauses{least: b.Retry, most: b.MostRetry}
	for ctx.Err() == nil {
		stood := time.Duration(0)
		s, err := connect(ctx, b.Options, b.hear)
		switch {
		case errors.Is(err, errDenied):
			return err
		case err != nil:
			b.Log.Warn("couldn't connect to the IRC server", "because", err)
		default:
			since := time.Now()
			b.Log.Info("connected to the IRC server", "nick", s.conn.CurrentNick())
			b.use(s)
			s.join(b.Channels...)
			select {
			case <-ctx.Done():
				s.quit()
			case <-s.over:
				b.Log.Warn("the connection to the IRC server ended")
			}
			b.use(nil)
			stood = time.Since(since)
		}
		wait := p.next(stood)
		sleep(ctx, wait+mathrand.N(wait/4+1)) // bridges that failed together don't come back together
	}
	return nil
}

// pauses are how long to wait before each attempt to connect. They grow until a connection has stood
// for as long as the longest of them: a server that lets us in and puts us out is left alone, too.
type pauses struct{ least, most, last time.Duration }

func (p *pauses) next(stood time.Duration) time.Duration {
	if stood >= p.most {
		p.last = 0
	}
	p.last = min(max(p.least, 2*p.last), p.most)
	return p.last
}

func (b *bridge) use(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session = s
	close(b.changed)
	b.changed = make(chan struct{})
}

// inside waits for a connection that is in a channel.
func (b *bridge) inside(ctx context.Context, channel string) (*session, error) {
	for ctx.Err() == nil {
		b.mu.Lock()
		s, changed := b.session, b.changed
		b.mu.Unlock()
		if s != nil && s.inside(ctx, channel) {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil, ctx.Err()
}

// tell says in a channel what is said in the room.
func (b *bridge) tell(ctx context.Context, channel string) error {
	at, _ := b.state.place(channel)
	return b.Room.Follow(ctx, at.RoomSeq, func(ctx context.Context, e *ubl.Entry) error {
		text, err := b.says(ctx, e)
		if err != nil {
			return err
		}
		if text == "" {
			return nil // the place moves with what is said
		}
		return b.tellEntry(ctx, channel, e, text)
	})
}

// tellEntry says an entry, from the line on that a crash has left.
func (b *bridge) tellEntry(ctx context.Context, channel string, e *ubl.Entry, text string) error {
	s, err := b.inside(ctx, channel)
	if err != nil {
		return err
	}
	at, _ := b.state.place(channel)
	if at.Entry != e.RoomSeq {
		at = place{RoomSeq: at.RoomSeq, Entry: e.RoomSeq}
	}
	lines := said(b.Room.Name(ctx, e.AuthorID), text, b.Room.Link(e), s.fits(channel))
	for at.Lines < len(lines) {
		if err := b.say(ctx, channel, lines[at.Lines]); err != nil {
			return err
		}
		if at.Lines++; at.Lines == len(lines) {
			break
		}
		if err := b.state.tell(channel, at); err != nil {
			return err
		}
	}
	return b.state.tell(channel, place{RoomSeq: e.RoomSeq})
}

// say says a line once the server lets us, over as many connections as it takes. A line that is
// refused again and again is given up: what comes behind it may be taken.
func (b *bridge) say(ctx context.Context, channel, line string) error {
	for refusals := 0; ; {
		s, err := b.inside(ctx, channel)
		if err == nil {
			err = b.limit.Wait(ctx)
		}
		if err != nil {
			return err
		}
		err = s.say(ctx, channel, line)
		refusal, refused := errors.AsType[*refusedError](err)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case refused:
			if refusals++; refusals == attempts {
				b.Log.Error("gave a line up", "channel", channel, "because", refusal.why)
				return nil
			}
			b.Log.Warn("a line was refused; trying again", "channel", channel, "because", refusal.why)
			sleep(ctx, b.Pause)
		default: // the connection ended; what becomes of it, keepConnected says
			sleep(ctx, b.Retry)
		}
	}
}

// hear has what somebody says in a channel wait to be posted.
func (b *bridge) hear(nick, text, id string) {
	if bridgedOnIRC.MatchString(text) {
		return
	}
	says := posted(nick, text)
	if says == "" {
		return
	}
	switch err := b.state.put(post{Key: b.keyOf(id), Text: says}); {
	case errors.Is(err, errFull):
		b.Log.Error("lost a line of IRC", "nick", nick, "because", err)
	case err != nil:
		b.fail(err)
	}
}

// keyOf is the key to post under. A server that gives messages ids may send one again, as part of
// what was said before we came.
func (b *bridge) keyOf(id string) string {
	if id == "" {
		return "irc-" + rand.Text()
	}
	sum := sha256.Sum256([]byte(b.Server + "\n" + id))
	return "irc-" + hex.EncodeToString(sum[:16])
}

// post posts what waits, oldest first.
func (b *bridge) post(ctx context.Context) error {
	for {
		p, some := b.state.first()
		if !some {
			select {
			case <-b.state.more:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		switch err := b.Room.Post(ctx, p.Key, p.Text); {
		case errors.Is(err, ErrRefused):
			b.Log.Error("a line of IRC was refused", "because", err)
		case err != nil:
			return err
		}
		if err := b.state.done(); err != nil {
			return err
		}
	}
}

// Check connects to the IRC server and enters the channels, says nothing, and leaves.
func Check(ctx context.Context, options Options) error {
	o := options.withDefaults()
	s, err := connect(ctx, o, func(string, string, string) {})
	if err != nil {
		return fmt.Errorf("couldn't connect to the IRC server: %w", err)
	}
	defer s.quit()
	s.join(o.Channels...)
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	for _, channel := range o.Channels {
		if !s.inside(within, channel) {
			return s.because(fmt.Errorf("couldn't enter %s", channel))
		}
	}
	return nil
}

// sleep waits, or less where ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
