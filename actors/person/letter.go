package person

import (
	"context"
	"encoding/json"
	"slices"

	"ubl"
	"ubl/actors"
)

// sendMail makes an attempt of a mail: what is to be told is read now, as the person. A second
// attempt has the id of the first.
func (x *Person) sendMail(ctx context.Context, a actors.Attempt, due ubl.Time) (json.RawMessage, error) {
	if x.mail == nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "this server sends no mail")
	}
	l, err := ubl.Ask[letter](ctx, x.Ask, x.Name, whatToMail{})
	if err != nil {
		return nil, err
	}
	done, err := x.deliver(ctx, l, ubl.UnreadMail{ID: a.IdempotencyKey, Of: x.Name, Language: l.preferences.Language, Due: due})
	if err != nil {
		return nil, err
	}
	return json.Marshal(done)
}

// deliver hands a mail to the server, where there is anything to tell and an address to tell it to.
func (x *Person) deliver(ctx context.Context, l letter, m ubl.UnreadMail) (done posting, err error) {
	if l.quiet > 0 {
		return posting{After: l.quiet}, nil
	}
	for _, w := range l.rooms {
		done.Told = append(done.Told, told{RoomID: w.RoomID, Seq: w.LastSeq})
	}
	m.To, err = x.address(ctx, l.who)
	if err != nil || m.To == "" || l.failed != nil && l.failed.Address == m.To {
		return done, err
	}
	if l.preferences.Mails() == ubl.MailDaily {
		err = x.unread(ctx, l, &m)
	} else {
		err = x.waited(ctx, l, &m)
	}
	if err != nil || len(m.Rooms) == 0 {
		return done, err
	}
	switch err := x.mail.Mail(ctx, m); ubl.CodeOf(err) {
	case "":
		done.Sent = true
		return done, nil
	case ubl.CodeForbidden:
		done.Refused = &ubl.MailFailure{Address: m.To, Message: ubl.AsError(err).Message, At: ubl.TimeOf(x.Now())}
		return done, nil
	default:
		return done, err
	}
}

// address is where a person is mailed, "" where there is no address that they have proven.
func (x *Person) address(ctx context.Context, who ubl.Identity) (string, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, x.Ask, ubl.TenantName(who.TenantID), ubl.FindMember{Who: who, UserID: who.UserID})
	switch ubl.CodeOf(err) {
	case "":
	case ubl.CodeNotAMember, ubl.CodeNotFound, ubl.CodeForbidden: // they have left
		return "", nil
	default:
		return "", err
	}
	if m.Unproven || m.IsService {
		return "", nil
	}
	return m.Email, nil
}

// waited adds the rooms in which something waits.
func (x *Person) waited(ctx context.Context, l letter, m *ubl.UnreadMail) error {
	for _, w := range l.rooms {
		if len(m.Rooms) == maxMailRooms {
			m.More++
			continue
		}
		read, err := x.read(ctx, l.who.UserID, w.RoomID)
		if err != nil {
			return err
		}
		if read >= w.LastSeq { // and nobody could say so then
			if err := x.seen(ctx, w.RoomID, read); err != nil {
				return err
			}
			continue
		}
		newest := w.Newest
		if len(newest) == 0 { // of a version before
			newest = []int64{w.LastSeq}
		}
		var list []*ubl.Entry
		for _, seq := range newest {
			e, err := x.entry(ctx, l.who, ubl.RoomName(l.who.TenantID, w.RoomID), seq)
			if err != nil {
				return err
			}
			if e != nil && e.Redacted == nil && seq > read {
				list = append(list, e)
			}
		}
		if len(list) == 0 { // taken back, or no longer theirs to see
			continue
		}
		x.add(ctx, l, m, ubl.UnreadRoom{RoomID: w.RoomID, Count: w.Count}, list)
	}
	return nil
}

// unread adds the rooms in which anything is unread, but for those that are to be silent.
func (x *Person) unread(ctx context.Context, l letter, m *ubl.UnreadMail) error {
	rooms, err := ubl.Ask[[]ubl.RoomEntry](ctx, x.Ask, ubl.TenantName(l.who.TenantID), ubl.ListRooms{Who: l.who})
	if code := ubl.CodeOf(err); code == ubl.CodeNotAMember || code == ubl.CodeForbidden {
		return nil
	} else if err != nil {
		return err
	}
	for _, r := range rooms {
		wants, _ := l.preferences.Room(r.RoomID)
		switch {
		case r.Read == nil || r.Read.Unread == 0 || wants.Level == ubl.NotifyNothing || wants.MutedUntil > ubl.TimeOf(x.Now()):
			continue
		case len(m.Rooms) == maxMailRooms:
			m.More++
			continue
		}
		page, err := ubl.Ask[*ubl.HistoryPage](ctx, x.Ask, ubl.RoomName(l.who.TenantID, r.RoomID), ubl.ReadHistory{Who: l.who, Limit: maxNewest, Entries: true, Now: true})
		if err != nil {
			return err
		}
		var list []*ubl.Entry
		for _, raw := range page.Entries {
			var e ubl.Entry
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if e.Type == ubl.EntryMessage && e.Redacted == nil && e.RoomSeq > r.Read.ReadSeq && e.AuthorID != l.who.UserID {
				list = append(list, &e)
			}
		}
		x.add(ctx, l, m, ubl.UnreadRoom{RoomID: r.RoomID, Count: r.Read.Unread}, list)
	}
	return nil
}

// add adds a room with its newest messages.
func (x *Person) add(ctx context.Context, l letter, m *ubl.UnreadMail, r ubl.UnreadRoom, list []*ubl.Entry) {
	r.Name, _ = x.titled(ctx, l.who, ubl.RoomName(l.who.TenantID, r.RoomID))
	for _, e := range list {
		author := x.called(ctx, l.who, e.AuthorID)
		if !slices.Contains(r.Authors, author) {
			r.Authors = append(r.Authors, author)
		}
		if text := textOf(e); l.preferences.MailText && text != "" {
			r.Lines = append(r.Lines, ubl.UnreadLine{Author: author, Text: text})
		}
	}
	m.Rooms = append(m.Rooms, r)
}
