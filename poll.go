package ubl

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// A poll is a message whose body is a question with options: people answer it, react to it, pin
// it and redact it like any other. Votes, and its end, are entries about it.

// Content types of polls.
const (
	ContentPoll    = "application/vnd.ubl.poll+json"     // {"question":…,"options":[…]}, of a message
	ContentVote    = "application/vnd.ubl.vote+json"     // {"choices":[…]}
	ContentPollEnd = "application/vnd.ubl.poll-end+json" // {"counts":[…],"voters":…}, which the room writes
)

// Bounds of polls.
const (
	MinPollOptions = 2
	MaxPollOptions = 10
	MaxPollText    = 300 // characters of a question, and of an option
	// MaxPollDays is how long a poll may be open that has an end.
	MaxPollDays = 366
	// MaxVoters is how many people may vote in one poll. The end of an anonymous one takes all of
	// their votes away in one commit.
	MaxVoters = 10_000
)

type (
	// PollBody is that of [ContentPoll].
	PollBody struct {
		// Anonymous keeps from everybody who chose what, and shows counts at the end alone.
		Anonymous bool `json:"anonymous,omitempty"`
		// EndsAt ends the poll by itself; 0 for never.
		EndsAt Time `json:"ends_at,omitzero"`
		// Multiple lets a vote choose several options.
		Multiple bool     `json:"multiple,omitempty"`
		Options  []string `json:"options"`
		Question string   `json:"question"`
		// Result is what came of a poll that was imported. Nobody votes in it any more.
		Result *PollResult `json:"result,omitempty"`
	}
	// PollResult is that of [ContentPollEnd]: how many chose each option, and how many voted.
	PollResult struct {
		Counts []int64 `json:"counts,omitempty"` // nil of an anonymous poll that was imported open
		Voters int64   `json:"voters"`
	}
	// VoteBody is that of [ContentVote]. Choices are numbers of options, from 1 on; an empty list
	// takes the vote back. Nil in the entry of a vote in an anonymous poll, which doesn't tell.
	VoteBody struct {
		Choices []int `json:"choices,omitzero"`
	}
)

// PollContent is the body of a poll.
func PollContent(b PollBody) TypedBody { return TypedBody{Type: ContentPoll, JSON: canonical(b)} }

// VoteContent is the body of a vote.
func VoteContent(choices ...int) TypedBody {
	return TypedBody{Type: ContentVote, JSON: canonical(VoteBody{Choices: append([]int{}, choices...)})}
}

// SecretVoteContent is the body of a vote that doesn't tell its choices.
func SecretVoteContent() TypedBody {
	return TypedBody{Type: ContentVote, JSON: []byte("{}")}
}

// PollEndContent is the body of a poll's end. Who asks for it says nothing.
func PollEndContent(r *PollResult) TypedBody {
	if r == nil {
		return TypedBody{Type: ContentPollEnd, JSON: []byte("{}")}
	}
	return TypedBody{Type: ContentPollEnd, JSON: canonical(r)}
}

// Poll is the body of a message that is a poll; nil for any other.
func (c *TypedBody) Poll() *PollBody {
	var b PollBody
	if c == nil || c.Type != ContentPoll || json.Unmarshal(c.JSON, &b) != nil {
		return nil
	}
	return &b
}

// Text is the question with its options, a line each: what a search finds.
func (b *PollBody) Text() string {
	return strings.Join(append([]string{b.Question}, b.Options...), "\n")
}

// Check refuses a poll that nobody could vote in.
func (b *PollBody) Check() error {
	switch {
	case checkPollText(b.Question) != nil:
		return Errorf(CodeValidation, "question is not 1 to %d characters that can be seen", MaxPollText)
	case len(b.Options) < MinPollOptions || len(b.Options) > MaxPollOptions:
		return Errorf(CodeValidation, "options are not %d to %d", MinPollOptions, MaxPollOptions)
	}
	for i, o := range b.Options {
		if checkPollText(o) != nil || strings.ContainsAny(o, "\r\n") {
			return Errorf(CodeValidation, "an option is not a line of 1 to %d characters that can be seen", MaxPollText)
		}
		if slices.Contains(b.Options[:i], o) {
			return Errorf(CodeValidation, "two options are the same")
		}
	}
	if r := b.Result; r != nil {
		if !(r.Counts == nil && b.Anonymous) && len(r.Counts) != len(b.Options) || r.Voters < 0 || slices.ContainsFunc(r.Counts, func(n int64) bool { return n < 0 || n > r.Voters }) {
			return Errorf(CodeValidation, "result doesn't have a count for each option")
		}
	}
	return nil
}

func checkPollText(text string) error {
	if utf8.RuneCountInString(text) > MaxPollText {
		return Errorf(CodeValidation, "the text is too long")
	}
	return CheckText(text, MaxMessageBytes)
}

// Chosen are the choices of a vote in the poll, in order and each once, or what is wrong with them.
func (b *PollBody) Chosen(choices []int) ([]int, error) {
	chosen := slices.Compact(slices.Sorted(slices.Values(choices)))
	switch {
	case len(chosen) > 0 && (chosen[0] < 1 || chosen[len(chosen)-1] > len(b.Options)):
		return nil, Errorf(CodeValidation, "choices are not numbers of options, from 1 to %d", len(b.Options))
	case len(chosen) > 1 && !b.Multiple:
		return nil, Errorf(CodeValidation, "choices are several, and the poll takes one")
	}
	return chosen, nil
}

// PollState is what has become of a poll. It is absent while nobody has voted.
type PollState struct {
	// By are who chose each option, at most [MaxReactors] of each; absent where it is anonymous.
	By [][]UserID `json:"by,omitempty"`
	// Counts are how many chose each option; absent while an anonymous poll is open.
	Counts []int64 `json:"counts,omitempty"`
	// Ended says when and by whom the poll was ended; nil while it is open.
	Ended *PollEnded `json:"ended,omitempty"`
	// Mine are the reader's choices; absent for none, and once an anonymous poll has ended.
	Mine   []int `json:"mine,omitempty"`
	Voters int64 `json:"voters"`
}

// PollEnded is the end of a poll. Where its time has come, By is the platform.
type PollEnded struct {
	At      Time   `json:"at"`
	By      UserID `json:"by"`
	RoomSeq int64  `json:"room_seq"` // of the entry that ended it
}
