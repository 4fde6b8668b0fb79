package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"ubl"
)

// pollCmd asks rooms to vote.
type pollCmd struct {
	Create pollCreateCmd `cmd:"" help:"Ask a room to vote."`
	Show   pollShowCmd   `cmd:"" help:"Show a poll with its counts."`
	Vote   pollVoteCmd   `cmd:"" help:"Vote, or change your vote."`
	End    pollEndCmd    `cmd:"" help:"End a poll: its author, moderators and owners of the room."`
}

type pollCreateCmd struct {
	remote
	format
	Place     string        `arg:"" name:"room" complete:"rooms" help:"The room, like general."`
	Question  string        `arg:"" help:"What to ask."`
	Options   []string      `arg:"" help:"What may be chosen: 2 to 10."`
	Multiple  bool          `help:"Let a vote choose several options." config:"-"`
	Anonymous bool          `help:"Tell nobody who chose what; counts show at the end." config:"-"`
	In        time.Duration `help:"End it by itself in so long, as 48h." config:"-"`
}

// Run makes the poll.
func (c *pollCreateCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	body := map[string]any{"question": c.Question, "options": c.Options, "multiple": c.Multiple, "anonymous": c.Anonymous}
	if c.In != 0 {
		body["ends_at"] = ubl.TimeOf(p.now().Add(c.In))
	}
	return entered(ctx, p, &c.remote, c.format, room, "/polls", body, func(e *ubl.Entry) string {
		return fmt.Sprintf("Asked in %s: %s", e.RoomID, e.ID)
	})
}

// onPoll names a poll.
type onPoll struct {
	Place string        `arg:"" name:"room" complete:"rooms" help:"The room, like general."`
	Poll  ubl.MessageID `arg:"" help:"The poll's id (m:…)."`
}

type pollVoteCmd struct {
	remote
	format
	onPoll
	Choices []int `arg:"" optional:"" help:"Numbers of options, as \"ubl poll show\" has them; none takes your vote back."`
}

// Run votes.
func (c *pollVoteCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	body := map[string]any{"choices": append([]int{}, c.Choices...)}
	return entered(ctx, p, &c.remote, c.format, room, "/polls/"+url.PathEscape(string(c.Poll))+"/votes", body, func(*ubl.Entry) string {
		if len(c.Choices) == 0 {
			return "Your vote is taken back."
		}
		return "You have voted."
	})
}

type pollEndCmd struct {
	remote
	format
	onPoll
}

// Run ends the poll.
func (c *pollEndCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	return entered(ctx, p, &c.remote, c.format, room, "/polls/"+url.PathEscape(string(c.Poll))+"/end", map[string]any{}, func(e *ubl.Entry) string {
		var r ubl.PollResult
		_ = e.Body.Read(ubl.ContentPollEnd, &r)
		return fmt.Sprintf("The poll has ended with %s.", plural(int(r.Voters), "voter"))
	})
}

// entered sends something below a room that becomes an entry of it, and says what came of it.
func entered(ctx context.Context, p *program, r *remote, f format, room ubl.RoomID, below string, body map[string]any, line func(*ubl.Entry) string) error {
	return changed(ctx, p, r, f, "POST", "/api/rooms/"+url.PathEscape(string(room))+below, body, func(answer *struct{ Entry ubl.Entry }) string {
		return line(&answer.Entry)
	})
}

type pollShowCmd struct {
	remote
	format
	onPoll
}

// Run shows the poll.
func (c *pollShowCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var answer struct {
		Entry json.RawMessage `json:"entry"`
	}
	if err := server.call(ctx, "GET", "/api/rooms/"+url.PathEscape(string(room))+"/polls/"+url.PathEscape(string(c.Poll)), nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		_, err := fmt.Fprintf(p.out, "%s\n", answer.Entry)
		return err
	}
	e, err := formed[ubl.Entry]("a poll", answer.Entry)
	if err != nil {
		return err
	}
	b := e.Body.Poll()
	if b == nil {
		return fmt.Errorf("the server answers with something that is no poll")
	}
	fmt.Fprintln(p.out, clean(b.Question))
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	counts, mine := countsOf(b, e.Poll), []int(nil)
	if e.Poll != nil {
		mine = e.Poll.Mine
	}
	for i, o := range b.Options {
		count, own := "", ""
		if counts != nil {
			count = fmt.Sprint(counts[i])
		}
		if slices.Contains(mine, i+1) {
			own = "yours"
		}
		fmt.Fprintln(table, cells(i+1, o, count, own))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, pollLine(b, e.Poll))
	return err
}

// countsOf are how many chose each option; nil where that isn't told.
func countsOf(b *ubl.PollBody, s *ubl.PollState) []int64 {
	switch {
	case b.Result != nil && len(b.Result.Counts) == len(b.Options):
		return b.Result.Counts
	case s != nil && len(s.Counts) == len(b.Options):
		return s.Counts
	case b.Anonymous || b.Result != nil:
		return nil
	}
	return make([]int64, len(b.Options))
}

// pollLine says how far a poll is.
func pollLine(b *ubl.PollBody, s *ubl.PollState) string {
	voters := int64(0)
	if s != nil {
		voters = s.Voters
	}
	if b.Result != nil {
		voters = b.Result.Voters
	}
	said := []string{plural(int(voters), "voter")}
	if b.Anonymous {
		said = append(said, "anonymous")
	}
	switch {
	case b.Result != nil || s != nil && s.Ended != nil:
		said = append(said, "ended")
	case b.EndsAt != 0:
		said = append(said, "ends "+local(b.EndsAt))
	}
	return strings.Join(said, ", ")
}

// pollText is a poll in a line of a timeline.
func pollText(b *ubl.PollBody, s *ubl.PollState) string {
	var options []string
	counts := countsOf(b, s)
	for i, o := range b.Options {
		if counts != nil {
			o = fmt.Sprintf("%s: %d", o, counts[i])
		}
		options = append(options, fmt.Sprintf("(%d) %s", i+1, o))
	}
	return fmt.Sprintf("* asks: %s %s [%s]", b.Question, strings.Join(options, " "), pollLine(b, s))
}
