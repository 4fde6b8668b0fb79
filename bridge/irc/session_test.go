package irc

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ubl"
	"ubl/test/poll"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// double is an IRC server of a few lines, which refuses what a test says. A real one is in test/e2e.
type double struct {
	t        *testing.T
	listener net.Listener
	password string // of the account ana, "" for a server without accounts

	mu    sync.Mutex
	lines []string
	conns []net.Conn
	mute  int // so many lines more are refused
	// forward is where who comes to a channel is sent, "" for nowhere else.
	forward string
}

func newDouble(t *testing.T) *double {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &double{t: t, listener: l}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			d.mu.Lock()
			d.conns = append(d.conns, conn)
			d.mu.Unlock()
			serving.Go(func() { d.serve(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		for _, conn := range d.conns {
			conn.Close()
		}
		serving.Wait()
	})
	return d
}

func (d *double) serve(conn net.Conn) {
	defer conn.Close()
	tell := func(format string, args ...any) { fmt.Fprintf(conn, ":irc.test "+format+"\r\n", args...) }
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		d.mu.Lock()
		d.lines = append(d.lines, line)
		refused := strings.HasPrefix(line, "PRIVMSG") && d.mute > 0
		if refused {
			d.mute--
		}
		d.mu.Unlock()
		command, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "CAP LS"):
			tell("CAP * LS :sasl")
		case strings.HasPrefix(line, "CAP REQ"):
			tell("CAP * ACK :sasl")
		case line == "AUTHENTICATE PLAIN":
			tell("AUTHENTICATE +")
		case command == "AUTHENTICATE":
			if rest == base64.StdEncoding.EncodeToString([]byte("ana\x00ana\x00"+d.password)) {
				tell("903 * :welcome")
			} else {
				tell("904 * :no such account")
			}
		case command == "NICK" && rest == "taken":
			tell("433 * taken :is in use")
		case command == "NICK":
			tell("001 %s :hello", rest)
			tell("422 %s :no motto", rest)
		case command == "JOIN" && d.forward != "":
			tell("470 %s %s %s :Forwarding to another channel", d.nick(), rest, d.forward)
			fmt.Fprintf(conn, ":%s!~ubl@host JOIN %s\r\n", d.nick(), d.forward)
		case command == "JOIN":
			fmt.Fprintf(conn, ":%s!~ubl@host JOIN %s\r\n", d.nick(), rest)
		case command == "PING":
			tell("PONG irc.test :%s", strings.TrimPrefix(rest, ":"))
		case refused:
			tell("404 %s #ubl :you may not speak", d.nick())
		case command == "QUIT":
			return
		}
	}
}

// nick is the newest one that was asked for.
func (d *double) nick() string {
	got := d.got("NICK ")
	return got[len(got)-1]
}

// got is what came behind a command.
func (d *double) got(command string) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range d.lines {
		if rest, ok := strings.CutPrefix(line, command); ok {
			out = append(out, rest)
		}
	}
	return out
}

// tells has the server send a line to the bridge.
func (d *double) tells(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.conns[len(d.conns)-1], "%s\r\n", line)
}

// spoken is a room for tests.
type spoken struct {
	says    chan *ubl.Entry
	entries map[ubl.MessageID]*ubl.Entry

	mu     sync.Mutex
	posted []post
	refuse error
}

func (r *spoken) Head(context.Context) (int64, error) { return 0, nil }

func (r *spoken) Follow(ctx context.Context, after int64, each func(context.Context, *ubl.Entry) error) error {
	for {
		select {
		case e := <-r.says:
			if err := each(ctx, e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *spoken) Post(_ context.Context, key, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posted = append(r.posted, post{key, text})
	return r.refuse
}

func (r *spoken) texts() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.posted {
		out = append(out, p.Text)
	}
	return out
}

func (r *spoken) Entry(_ context.Context, id ubl.MessageID) (*ubl.Entry, error) {
	return r.entries[id], nil
}
func (r *spoken) Name(context.Context, ubl.UserID) string { return "Ana" }
func (r *spoken) Link(*ubl.Entry) string                  { return "https://ubl.example" }

// runs runs a bridge to the double until the test ends or stop is called, which answers how it ended.
func (d *double) runs(room *spoken, change func(*Options)) (stop func() error) {
	d.t.Helper()
	cancel, ended := d.start(room, change)
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	d.t.Cleanup(func() { _ = stop() })
	return stop
}

// start is runs of a bridge that may end by itself: ended has how.
func (d *double) start(room *spoken, change func(*Options)) (cancel func(), ended <-chan error) {
	d.t.Helper()
	o := Options{Room: room, RoomID: "r:general", Self: "u:bridge", Server: d.listener.Addr().String(), Channels: []string{"#ubl"}, Nick: "ubl",
		State: filepath.Join(d.t.TempDir(), "bridge.json"), Log: slog.New(slog.DiscardHandler), Plain: true,
		Pace: time.Millisecond, Retry: time.Millisecond, Pause: time.Millisecond}
	change(&o)
	ctx, cancel := context.WithCancel(d.t.Context())
	how := make(chan error, 1)
	go func() { how <- Run(ctx, o) }()
	if o.Password != "wrong" {
		poll.Until(d.t, "the bridge joins", func() bool { return len(d.got("JOIN ")) > 0 })
	}
	return cancel, how
}

func message(seq int64, text string) *ubl.Entry {
	m := ubl.Message{MsgID: "m:1", RoomSeq: seq, SenderID: "u:ana", Type: ubl.TypeText, Body: ubl.Body{Text: text}}
	return m.Entry(ubl.Salt{})
}

// TestAccount: the bridge signs in by SASL PLAIN, and doesn't try again with a password that is wrong.
func TestAccount(t *testing.T) {
	d := newDouble(t)
	d.password = "hunter2"
	stop := d.runs(&spoken{}, func(o *Options) { o.Login, o.Password = "ana", "hunter2" })
	if err := stop(); err != nil {
		t.Error(err)
	}
	o := Options{Room: &spoken{}, RoomID: "r:general", Server: d.listener.Addr().String(), Channels: []string{"#ubl"}, Nick: "ubl", Plain: true,
		State: filepath.Join(t.TempDir(), "bridge.json"), Log: slog.New(slog.DiscardHandler), Login: "ana", Password: "wrong"}
	if err := Run(t.Context(), o); !errors.Is(err, errDenied) {
		t.Errorf("with a wrong password it ends with %v", err)
	}
}

// TestRefused: a line that is refused is said again, and given up in the end; where the bridge is
// thrown out of the channel, or its nick is taken, it helps itself.
func TestRefused(t *testing.T) {
	d := newDouble(t)
	room := &spoken{says: make(chan *ubl.Entry)}
	d.mute = 1
	d.runs(room, func(o *Options) { o.Nick = "taken" })
	if nick := d.nick(); nick == "taken" || !strings.HasPrefix(nick, "taken") {
		t.Errorf("it is called %s", nick)
	}
	said := func(text string, times int) {
		t.Helper()
		poll.Until(t, text+" is said", func() bool { return count(d.got("PRIVMSG #ubl :"), text) == times })
	}
	room.says <- message(1, "said again")
	said("said again", 2)

	d.mu.Lock()
	d.mute = attempts
	d.mu.Unlock()
	room.says <- message(2, "given up")
	room.says <- message(3, "what follows")
	said("what follows", 1)
	said("given up", attempts)

	d.tells(":op!op@host KICK #ubl " + d.nick() + " :out")
	poll.Until(t, "it comes back", func() bool { return len(d.got("JOIN ")) == 2 })
	room.says <- message(4, "back again")
	said("back again", 1)
}

// TestAnswers: an answer says on IRC to whom, by the nick that they have there.
func TestAnswers(t *testing.T) {
	d := newDouble(t)
	ofAna, ofBob := message(1, "a question"), message(2, "bob via irc: another")
	ofBob.AuthorID = "u:bridge"
	room := &spoken{says: make(chan *ubl.Entry), entries: map[ubl.MessageID]*ubl.Entry{"m:1": ofAna, "m:2": ofBob}}
	d.runs(room, func(*Options) {})
	for i, to := range []ubl.MessageID{"m:1", "m:2", "m:gone"} {
		e := message(int64(3+2*i), "yes")
		e.ReplyTo = &to
		room.says <- e
		e = message(int64(4+2*i), "so")
		e.Thread = &to
		room.says <- e
	}
	var want []string
	for _, line := range []string{"↳ Ana: yes", "↳ Ana: so", "↳ bob: yes", "↳ bob: so", "↳ yes", "↳ so"} {
		want = append(want, "<\x02Ana\x02> "+line)
	}
	poll.Until(t, "all is said", func() bool { return len(d.got("PRIVMSG ")) == len(want) })
	if got := d.got("PRIVMSG #ubl :"); !slices.Equal(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// TestHears: what a server sends again, with the id of before, is posted under the same key; what the
// room refuses holds up nothing.
func TestHears(t *testing.T) {
	d := newDouble(t)
	room := &spoken{refuse: fmt.Errorf("%w: too long", ErrRefused)}
	stop := d.runs(room, func(*Options) {})
	d.tells("@msgid=7 :bob!b@host PRIVMSG #UBL :once")
	d.tells("@msgid=7 :bob!b@host PRIVMSG #ubl :once")
	d.tells(":bob!b@host PRIVMSG ubl :in private")
	d.tells(":second!b@host PRIVMSG #ubl :<\x02Ana\x02> of a bridge")
	d.tells(":bob!b@host PRIVMSG #ubl :twice")
	want := []string{"bob via irc: once", "bob via irc: once", "bob via irc: twice"}
	poll.Until(t, "all is posted", func() bool { return slices.Equal(room.texts(), want) })
	if room.posted[0].Key != room.posted[1].Key || room.posted[1].Key == room.posted[2].Key {
		t.Errorf("the keys are %+v", room.posted)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestRoomGone: where the room takes the bridge no more, it ends.
func TestRoomGone(t *testing.T) {
	d := newDouble(t)
	gone := errors.New("the token was revoked")
	room := &spoken{refuse: gone}
	d.runs(room, func(*Options) {})
	d.tells(":bob!b@host PRIVMSG #ubl :hello")
	poll.Until(t, "it leaves", func() bool { return len(d.got("QUIT")) > 0 })
}

func count(lines []string, part string) (n int) {
	for _, line := range lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// TestNamedChannelsAlone: a server may put the bridge into other channels. What is said there isn't
// passed on, and it doesn't come back to them.
func TestNamedChannelsAlone(t *testing.T) {
	d := newDouble(t)
	room := &spoken{}
	d.runs(room, func(*Options) {})
	d.tells(":" + d.nick() + "!~ubl@host JOIN #secrets")
	d.tells(":bob!b@host PRIVMSG #secrets :not for the room")
	d.tells(":op!op@host KICK #secrets " + d.nick() + " :out")
	d.tells(":op!op@host KICK #ubl " + d.nick() + " :out")
	poll.Until(t, "it comes back", func() bool { return len(d.got("JOIN ")) == 2 })
	d.tells(":bob!b@host PRIVMSG " + d.nick() + " :nor is this")
	d.tells(":bob!b@host PRIVMSG #ubl :hello")
	poll.Until(t, "hello is posted", func() bool { return slices.Contains(room.texts(), "bob via irc: hello") })
	if joins, texts := d.got("JOIN "), room.texts(); !slices.Equal(joins, []string{"#ubl", "#ubl"}) || len(texts) != 1 {
		t.Errorf("it joined %q and posted %q", joins, texts)
	}
}

// TestForwarded: a channel that sends those who come to another one is one that the bridge isn't let into.
func TestForwarded(t *testing.T) {
	d := newDouble(t)
	room := &spoken{}
	d.forward = "#other"
	d.runs(room, func(*Options) {})
	poll.Until(t, "it tries again", func() bool { return len(d.got("JOIN ")) > 2 })
	if joins := d.got("JOIN "); slices.ContainsFunc(joins, func(c string) bool { return c != "#ubl" }) {
		t.Errorf("it joined %q", joins)
	}
}

// TestFileGone: where its file can't be written the bridge ends, and says so, whichever side speaks. So
// nothing is lost without a word.
func TestFileGone(t *testing.T) {
	for name, speak := range map[string]func(*double, *spoken){
		"on IRC":      func(d *double, _ *spoken) { d.tells(":bob!b@host PRIVMSG #ubl :hello") },
		"in the room": func(_ *double, room *spoken) { room.says <- message(1, "hello") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDouble(t)
			room := &spoken{says: make(chan *ubl.Entry)}
			dir := t.TempDir()
			_, ended := d.start(room, func(o *Options) { o.State = filepath.Join(dir, "bridge.json") })
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			speak(d, room)
			select {
			case err := <-ended:
				if err == nil || !strings.Contains(err.Error(), "couldn't write the bridge's file") {
					t.Errorf("it ends with %v", err)
				}
			case <-time.After(poll.Patience):
				t.Error("it doesn't end")
			}
		})
	}
}

// TestOneAtATime: two bridges with one file would say everything twice.
func TestOneAtATime(t *testing.T) {
	d := newDouble(t)
	path := filepath.Join(t.TempDir(), "bridge.json")
	first := func(o *Options) { o.State = path }
	stop := d.runs(&spoken{}, first)
	_, ended := d.start(&spoken{}, first)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "runs already") {
		t.Errorf("a second one ends with %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	stop = d.runs(&spoken{}, first)
	if err := stop(); err != nil {
		t.Errorf("a later one ends with %v", err)
	}
}

// TestPauses: they grow while connections end soon, and begin again after one that has stood.
func TestPauses(t *testing.T) {
	p := pauses{least: time.Second, most: 10 * time.Second}
	for i, step := range []struct{ stood, want time.Duration }{
		{0, 1}, {0, 2}, {1, 4}, {9, 8}, {0, 10}, {9, 10}, {10, 1}, {0, 2}, {3600, 1},
	} {
		if got := p.next(step.stood * time.Second); got != step.want*time.Second {
			t.Errorf("pause %d is %v, want %v s", i, got, step.want)
		}
	}
}
