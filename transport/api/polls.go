package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

// PollPath names a poll in a path.
type PollPath struct {
	RoomPath
	EntryID ubl.MessageID `path:"pollId" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The poll's entry_id, as its message has it." example:"m:0199a1b2"`
}

type createPollInput struct {
	RoomPath
	Body struct {
		Keyed
		Question  string        `json:"question" minLength:"1" maxLength:"300" doc:"What is asked." example:"Where do we meet?"`
		Options   []string      `json:"options" minItems:"2" maxItems:"10" nullable:"false" doc:"What may be chosen." example:"[\"Here\",\"At the lake\"]"`
		Multiple  bool          `json:"multiple,omitempty" doc:"Several may be chosen."`
		Anonymous bool          `json:"anonymous,omitempty" doc:"Nobody learns who chose what; counts show at the end."`
		EndsAt    ubl.Time      `json:"ends_at,omitempty" doc:"When it ends by itself; a year ahead at most." example:"2026-01-31T12:00:00.000Z"`
		Thread    ubl.MessageID `json:"thread,omitempty" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The message that began the thread to ask in." example:"m:0199a1b2"`
	}
}

func (a *API) createPoll(ctx context.Context, in *createPollInput) (any, error) {
	b := in.Body
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Request: envelope.Command(ctx, b.Key), Type: ubl.EntryMessage, Thread: b.Thread,
		Body: ubl.PollContent(ubl.PollBody{Anonymous: b.Anonymous, EndsAt: b.EndsAt, Multiple: b.Multiple, Options: b.Options, Question: b.Question}),
	})
}

type voteInput struct {
	PollPath
	Body struct {
		Keyed
		Choices []int `json:"choices" maxItems:"10" nullable:"false" doc:"Numbers of options, from 1 on; none takes the vote back." example:"[1]"`
	}
}

func (a *API) vote(ctx context.Context, in *voteInput) (any, error) {
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Request: envelope.Command(ctx, in.Body.Key), Type: ubl.EntryVote, Target: in.EntryID, Body: ubl.VoteContent(in.Body.Choices...),
	})
}

type endPollInput struct {
	PollPath
	Body *KeyBody
}

func (a *API) endPoll(ctx context.Context, in *endPollInput) (any, error) {
	key := ""
	if in.Body != nil {
		key = in.Body.Key
	}
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Request: envelope.Command(ctx, key), Type: ubl.EntryPollEnd, Target: in.EntryID, Body: ubl.PollEndContent(nil),
	})
}

// getPoll reads a poll with what has become of it.
func (a *API) getPoll(ctx context.Context, in *PollPath) (any, error) {
	stored, e, err := a.entry(ctx, &EntryPath{in.RoomPath, in.EntryID}, true)
	if err == nil && e.Body.Poll() == nil {
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such poll in this room")
	}
	if err != nil {
		return nil, err
	}
	return entryAnswer{stored}, nil
}

func (a *API) pollRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/polls", id: "create-poll", asks: nothing, counts: ubl.Sends, tool: "messenger.poll.create", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Ask the room to vote",
		more: "Who may send messages there. A poll is a message of a type of its own, which can't be edited. Of an anonymous one nobody learns who chose what: " +
			"its counts show at the end, which takes the votes themselves away.", also: notIn}, a.createPoll)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/polls/{pollId}", id: "get-poll", tool: "messenger.poll.get", tag: "messages", answers: "ubl.api.entry.v1",
		summary: "A poll with its counts", more: "poll has the counts, the caller's choices, and who chose what in a named poll; it is absent while nobody has voted.", also: notIn}, a.getPoll)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/polls/{pollId}/votes", id: "vote", asks: nothing, counts: ubl.Sends, tool: "messenger.poll.vote", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Vote in a poll, or change one's vote", more: "Members, until the poll ends; the newest vote of each counts.", also: notIn}, a.vote)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/polls/{pollId}/end", id: "end-poll", asks: nothing, counts: ubl.Sends, tool: "messenger.poll.end", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "End a poll", more: "Its author, moderators and owners of the room. The entry has the counts.", also: notIn}, a.endPoll)
}
