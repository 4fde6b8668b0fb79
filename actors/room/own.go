package room

import (
	"encoding/json"
	"unicode/utf8"

	"ubl"
)

// mayRead refuses who may not read a page of the timeline.
func (s *State) mayRead(c ubl.ReadHistory) error {
	switch {
	case !c.Own:
		return s.shows("messenger.history", c.Who)
	case c.Who.IsService || s.Agreement.SealedAt != nil:
		return ubl.Errorf(ubl.CodeNotAMember, "what was said here is closed to you")
	}
	return nil
}

// ownPage is the entries of a page that somebody wrote: what is theirs wherever they said it, also
// where they have been removed since. What became of such an entry others did, so it isn't told.
func ownPage(who ubl.UserID, entries []stored, first int64) (*ubl.HistoryPage, error) {
	p := &ubl.HistoryPage{}
	if len(entries) == 0 {
		return p, nil
	}
	p.FirstSeq, p.LastSeq = first, first+int64(len(entries))-1
	p.Entries = make([]json.RawMessage, len(entries))
	for i, v := range entries {
		b, err := v.brief()
		if err != nil {
			return nil, err
		}
		if b.author() != who {
			continue
		}
		e, err := v.entry()
		if err != nil {
			return nil, err
		}
		if e.ImportedFrom != nil { // who imported it may not have written it
			continue
		}
		if err := withoutForwarded(e); err != nil {
			return nil, err
		}
		p.Entries[i] = e.Encode()
	}
	return p, nil
}

// withoutForwarded leaves of a message that repeats another one its sender's own words. The salt
// goes too, since the commitment is to all that the message said.
func withoutForwarded(e *ubl.Entry) error {
	f := e.Forwarded
	if f == nil {
		return nil
	}
	e.Forwarded, e.Attachments, e.Salt = nil, nil, ubl.Salt{}
	if e.Body == nil { // redacted
		return nil
	}
	text, ok := e.Body.Text()
	if !ok || f.Comment > utf8.RuneCountInString(text) {
		return ubl.Damaged("the words of a forwarded message can't be told from its comment")
	}
	comment := ubl.TextContent(string([]rune(text)[:f.Comment]))
	e.Body = &comment
	return nil
}
