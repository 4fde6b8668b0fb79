package container

import (
	"encoding/json"

	"ubl"
	"ubl/actors"
)

// Files that a document holds: they go where it goes, and go when it goes.

// filesOf are the files that a document holds, oldest first.
func (s *State) filesOf(d ubl.DocumentID) (files []file) {
	for _, id := range s.Filed {
		if f := s.Files[id]; f.Document == d {
			files = append(files, f)
		}
	}
	return files
}

// leavingFiles are those of a document that is deleted or moved. The act names each file, so a
// document from before there was a limit, which holds more than one act can name, stays.
func (s *State) leavingFiles(d ubl.DocumentID) ([]file, error) {
	files := s.filesOf(d)
	if len(files) > ubl.MaxDocumentFiles {
		return nil, ubl.Errorf(ubl.CodeConflict, "the document holds more than %d files: remove some first", ubl.MaxDocumentFiles)
	}
	return files, nil
}

func (s *State) dropFiles(files []file) {
	for _, f := range files {
		s.dropFile(f.ID)
	}
}

// heldFiles are files as their document names them.
func heldFiles(files []file) (held []ubl.HeldFile) {
	for _, f := range files {
		held = append(held, ubl.HeldFile{FileID: f.ID, Name: f.Name, Type: f.Type, Bytes: f.Bytes})
	}
	return held
}

// filesHash is what the acts of a transfer say of the files that go along: the hash of the
// commitments that the acts which put them had, as a canonical array.
func filesHash(files []file) string {
	commitments := make([]string, len(files))
	for i, f := range files {
		commitments[i] = f.Salt.Commit(f.Blob.Sum())
	}
	b, err := json.Marshal(commitments) // hex digits: canonical as it is
	if err != nil {
		panic("container: couldn't encode hashes: " + err.Error())
	}
	return ubl.BodyHash(b)
}

// mayTakeFiles refuses files that don't fit in beside what is here.
func (s *State) mayTakeFiles(files []file) error {
	if !s.keeps() { // they are gone with the document
		return nil
	}
	if len(s.Files)+len(files) > ubl.MaxFiles {
		return ubl.Errorf(ubl.CodeConflict, "the container would have more than %d files", ubl.MaxFiles)
	}
	for _, f := range files {
		if err := s.fitsFile(f.Type, f.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// receivedFiles are the files that arrive with a document: those of a strict one stay what
// they are, those of a copy are new ones with the same contents.
func (s *State) receivedFiles(cmd takeIn, d ubl.DocumentID, at actors.Moment) ([]file, error) {
	files := make([]file, len(cmd.files))
	for i, f := range cmd.files {
		f.N, f.Document, f.ArrivedAt, f.ImportedFrom = s.Events+1, d, at.Now, nil
		if cmd.op != ubl.OpTransfer {
			var err error
			f.CreatedAt, f.CreatedBy, f.ArrivedAt = at.Now, cmd.Who.UserID, 0
			if f.ID, err = ubl.NewFileID(at.Now, f.N, at.Random); err != nil {
				return nil, err
			}
			if f.Salt, err = ubl.NewSalt(at.Random); err != nil {
				return nil, err
			}
		}
		files[i] = f
	}
	return files, nil
}

// mayCopyFiles refuses a copy whose files the tenant has no room for. What moves takes none.
func (c *Container) mayCopyFiles(cmd ubl.Transfer, x transfer) error {
	if x.Op == ubl.OpTransfer || len(x.Files) == 0 {
		return nil
	}
	var bytes int64
	for _, f := range x.Files {
		bytes += f.Bytes
	}
	return c.Usage.MayAdd(cmd.Who, bytes)
}

// withdraw takes out what is under way, where files are read as they are stored: their
// records stay at the source until they have arrived.
func (s *State) withdraw() {
	for _, d := range s.Pending {
		if d.Op == ubl.OpTransfer {
			s.dropFiles(d.Files)
		}
	}
}
