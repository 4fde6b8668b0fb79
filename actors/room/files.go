package room

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// Files of messages: the record of those that a message carries still, what refers to their blobs,
// and how many bytes the room has of them.

// filesVersion is the version of the record that says which files a message carries.
const filesVersion = 1

// filesRecord are the files of one message, as JSON under [filesKey].
type filesRecord struct {
	Form     int              `json:"v"`
	Files    []ubl.Attachment `json:"files"`
	MsgID    ubl.MessageID    `json:"msg_id"`
	SenderID ubl.UserID       `json:"sender_id"`
	SentAt   ubl.Time         `json:"sent_at"`
}

// filesKey is the key A room 0 n of the files of message n; n < 0 is the end of all of them.
func filesKey(r ubl.RoomID, n int64) []byte { return reading.Numbered('A', r, n) }

// fileBytesKey is the key A room of how many bytes those of all messages are.
func fileBytesKey(r ubl.RoomID) []byte { return append([]byte{'A'}, r...) }

// isFilesKey tells a [filesKey] from a [fileBytesKey]: no id of a room has a zero byte.
func isFilesKey(key []byte) bool { return slices.Contains(key, 0) }

// weighFiles is how much of what the tenant may store a record of files takes: their contents.
func weighFiles(v []byte) int64 {
	var f filesRecord
	if json.Unmarshal(v, &f) != nil {
		return 0 // who reads the record tells of the damage
	}
	return sumOf(f.Files)
}

// sumOf is how many bytes files are.
func sumOf(list []ubl.Attachment) (n int64) {
	for _, a := range list {
		n += a.Bytes
	}
	return n
}

// filesBytes is about how much longer files make an entry, given their JSON.
func filesBytes(list json.RawMessage) int {
	if len(list) <= len("[]") {
		return 0
	}
	return len(list)
}

// blobRef is the key by which a message refers to the content of one of its files.
func blobRef(r ubl.RoomID, seq int64, blob ubl.BlobID) []byte {
	return ubl.BlobRef(blob, string(binary.BigEndian.AppendUint64(append([]byte(r), 0), uint64(seq))))
}

// readFiles reads the files that a message carries still, nil for none.
func readFiles(snap ubl.Snapshot, r ubl.RoomID, seq int64) (*filesRecord, error) {
	v, err := snap.Get(filesKey(r, seq))
	if err != nil || v == nil {
		return nil, err
	}
	return decodeFiles(v)
}

func decodeFiles(v []byte) (*filesRecord, error) {
	f := new(filesRecord)
	if json.Unmarshal(v, f) != nil || f.Form != filesVersion {
		return nil, ubl.Damaged("the files of a message are stored in a form that this program doesn't know")
	}
	return f, nil
}

// readFileBytes reads how many bytes the files of all messages are.
func readFileBytes(snap ubl.Snapshot, r ubl.RoomID) (int64, error) {
	v, err := snap.Get(fileBytesKey(r))
	if err != nil || v == nil {
		return 0, err
	}
	return reading.NumberOf(v), nil
}

// withFiles adds what tells one list of files from another to what tells commands apart. Those
// without files stay what they were.
func withFiles(parts []string, files []ubl.Attachment, keeps *ubl.KeptFiles) []string {
	if len(files) > 0 {
		parts = append(parts, "attachments")
		for _, a := range files {
			parts = append(parts, a.Name, string(a.SHA256))
		}
	}
	if keeps != nil {
		parts = append(parts, "keeps")
		for _, id := range keeps.Files {
			parts = append(parts, string(id))
		}
	}
	return parts
}

// holds refuses files that the room has no room for.
func (r *Room) holds(who ubl.Identity, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return r.Usage.Within(who, ubl.QuotaRoomFiles, r.State.FileBytes+bytes-1)
}

// prepareAttachment says whether a file may be sent, before its content comes.
func (r *Room) prepareAttachment(t *actors.Turn, c ubl.PrepareAttachment) {
	_, err := r.State.member(c.Who)
	if err == nil {
		err = r.State.permits(ubl.DidSend, c.Who)
	}
	if err == nil {
		err = r.State.Agreement.May(ubl.OpWrite)
	}
	if err == nil {
		_, err = ubl.CheckFileName(c.Name)
	}
	if err == nil {
		err = r.Usage.MayAdd(c.Who, c.Bytes+c.Staged)
	}
	if err == nil {
		err = r.holds(c.Who, c.Bytes)
	}
	t.Answer(err, func() any { return nil })
}

// carry gives files their ids, as those of the entry in a place.
func (n place) carry(list []ubl.Attachment) []ubl.Attachment {
	if len(list) == 0 {
		return nil
	}
	files := slices.Clone(list)
	for i := range files {
		files[i].FileID = ubl.AttachmentID(n.id, i)
	}
	n.bytes += filesBytes(ubl.AttachmentsJSON(files))
	return files
}

// files puts the files of a new message into its plan.
func (s *State) files(p *plan, n place, files []ubl.Attachment, by ubl.Identity, at actors.Moment) {
	if len(files) == 0 {
		return
	}
	id := s.Summary.RoomID
	p.This = append(p.This, ubl.Str("attachments_hash", n.salt.AttachmentsHash(files)))
	record := filesRecord{Form: filesVersion, Files: files, MsgID: n.id, SenderID: by.UserID, SentAt: at.Now}
	p.Records = append(p.Records, actors.Record{Key: filesKey(id, n.seq), Value: encodeFiles(record)}, s.fileBytes(sumOf(files)))
	for _, blob := range contents(files) {
		p.Records = append(p.Records, actors.Record{Key: blobRef(id, n.seq, blob), Value: []byte{filesVersion}})
	}
}

// encodeFiles cannot fail: the record holds only strings, numbers and times.
func encodeFiles(f filesRecord) []byte {
	v, _ := json.Marshal(f)
	return v
}

// contents are the blobs of files, each once.
func contents(list []ubl.Attachment) (blobs []ubl.BlobID) {
	for _, a := range list {
		blobs = append(blobs, a.SHA256)
	}
	slices.Sort(blobs)
	return slices.Compact(blobs)
}

// fileBytes is the record of how many bytes the room's files are, with more of them or fewer.
func (s *State) fileBytes(more int64) actors.Record {
	return actors.Record{Key: fileBytesKey(s.Summary.RoomID), Value: binary.BigEndian.AppendUint64(nil, uint64(s.FileBytes+more))}
}

// removing takes files of a message away, but for those that it keeps, and answers how many bytes
// those are that go.
func (s *State) removing(p *plan, seq int64, old *filesRecord, keep []ubl.Attachment) int64 {
	if old == nil {
		return 0
	}
	id, was := s.Summary.RoomID, sumOf(old.Files)
	rest := actors.Record{Key: filesKey(id, seq), Frees: int(was)}
	if len(keep) > 0 {
		left := *old
		left.Files = keep
		rest.Value = encodeFiles(left)
	}
	p.Records = append(p.Records, rest)
	kept := contents(keep)
	for _, blob := range contents(old.Files) {
		if !slices.Contains(kept, blob) {
			p.Records = append(p.Records, actors.Record{Key: blobRef(id, seq, blob)})
		}
	}
	return was - sumOf(keep)
}

// dropping is removing with the room's count.
func (s *State) dropping(p *plan, seq int64, old *filesRecord, keep []ubl.Attachment) int64 {
	freed := s.removing(p, seq, old, keep)
	if freed > 0 {
		p.Records = append(p.Records, s.fileBytes(-freed))
	}
	return freed
}

// keeping plans that an edit leaves some files to its message, and answers these.
func (s *State) keeping(p *plan, c *posted, n place) (keep []ubl.Attachment, freed int64, err error) {
	keep = []ubl.Attachment{}
	if c.target.files != nil {
		for _, a := range c.target.files.Files {
			if slices.Contains(c.Keeps.Files, a.FileID) {
				keep = append(keep, a)
			}
		}
	}
	if len(keep) != len(c.Keeps.Files) {
		return nil, 0, ubl.Errorf(ubl.CodeValidation, "attachments are not files that the message carries, each once")
	}
	n.bytes += filesBytes(ubl.AttachmentsJSON(keep))
	p.This = append(p.This, ubl.Str("attachments_hash", n.salt.AttachmentsHash(keep)))
	return keep, s.dropping(p, c.target.Seq, c.target.files, keep), nil
}

// Limits of a page of files, and of how many messages are looked at for it.
const (
	maxFilesPage = 100
	maxFilesLook = 2000
)

// served is a file as it is answered.
func (f *filesRecord) served(r *Room, a ubl.Attachment) ubl.RoomFile {
	return ubl.RoomFile{Attachment: a, MsgID: f.MsgID, RoomID: r.id, SenderID: f.SenderID, SentAt: f.SentAt, TenantID: r.tenant}
}

// listFiles answers a page of the room's files.
func (r *Room) listFiles(t *actors.Turn, c ubl.ListRoomFiles) {
	err := r.State.shows("messenger.history", c.Who)
	head, ctx := r.State.head(), t.Context()
	t.Read(err, func(context.Context) (any, error) { return r.filesPage(ctx, c, head) })
}

func (r *Room) filesPage(ctx context.Context, c ubl.ListRoomFiles, head ubl.Head) (*ubl.RoomFileList, error) {
	last := head.LastSeq
	if c.After != "" {
		m, _ := c.After.Message()
		seq, ok := m.Seq()
		if !ok {
			return nil, ubl.Errorf(ubl.CodeValidation, "cursor is not the id of a file of this room")
		}
		last = min(last, seq)
	}
	limit := min(max(c.Limit, 1), maxFilesPage)
	page := new(ubl.RoomFileList)
	var bad error
	err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		looked := 0
		*page = ubl.RoomFileList{Files: []ubl.RoomFile{}}
		var newest ubl.FileID // that was looked at
		return snap.Descend(filesKey(r.id, head.AvailableFrom), filesKey(r.id, last+1), func(_, v []byte) bool {
			var f *filesRecord
			if f, bad = decodeFiles(v); bad != nil {
				return false
			}
			if looked++; looked > maxFilesLook {
				page.Next = newest
				return false
			}
			files := f.Files
			if at := slices.IndexFunc(files, func(a ubl.Attachment) bool { return a.FileID == c.After }); at >= 0 {
				files = files[at+1:]
			}
			for _, a := range files {
				if c.Kind != "" && a.Kind() != c.Kind {
					continue
				}
				if len(page.Files) == limit {
					page.Next = page.Files[limit-1].FileID
					return false
				}
				page.Files = append(page.Files, f.served(r, a))
			}
			newest = f.Files[len(f.Files)-1].FileID
			return true
		})
	})
	return page, errors.Join(err, bad)
}

// getFile answers what is known of a file.
func (r *Room) getFile(t *actors.Turn, c ubl.GetRoomFile) {
	err := r.State.shows("messenger.history", c.Who)
	unknown := ubl.Errorf(ubl.CodeNotFound, "there is no such file in this room")
	m, _ := c.FileID.Message()
	seq, ok := m.Seq()
	if err == nil && (!ok || seq < r.State.head().AvailableFrom || seq > r.State.Head.LastSeq) {
		err = unknown
	}
	ctx := t.Context()
	t.Read(err, func(context.Context) (any, error) {
		var found *ubl.RoomFile
		err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
			f, err := readFiles(snap, r.id, seq)
			if err != nil || f == nil {
				return err
			}
			if at := slices.IndexFunc(f.Files, func(a ubl.Attachment) bool { return a.FileID == c.FileID }); at >= 0 {
				served := f.served(r, f.Files[at])
				found = &served
			}
			return nil
		})
		if err == nil && found == nil {
			err = unknown
		}
		return found, err
	})
}
