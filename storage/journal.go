package storage

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"ubl/durable"
)

// The journal of a partition of a node alone, version 2: partition-N.db.journal.
// Numbers are big-endian, checksums CRC-32C. Version 1 had no mark beside it (see
// [durable.Mark]) and is replaced before anything is written.
//
//	head    "ubl journal 2\n", salt (8 bytes), checksum of both (4); zeros until the page ends
//	record  salt (8), index (8), length of the entry (4), checksum of all that and
//	        the entry (4), the entry (see entry.go); zeros until the page ends
//
// Every record begins a page of 4 KiB, so that writing one never touches the
// sectors of another. Once everything in the journal is in the partition's file
// it begins again behind its head; indices go on rising, which tells the records
// of this round from those of earlier ones. The salt is that of the partition: a
// journal of another is refused, and no text that somebody sends looks like a
// record.
//
// The file is written whole when it is made. Records only overwrite, so that
// syncing one takes no change of the file system's own structures, and past the
// page cache, which is a third faster.
type journal struct {
	file *os.File
	sync func(*os.File) error
	salt durable.Salt
	mark *durable.Mark // nil for version 1
	at   int64         // where the next record goes
	end  int64         // less than journalBytes where the file was cut short when it was read
	buf  []byte        // scratch: the newest record
}

const (
	journalMagic  = "ubl journal 2\n"
	journalMagic1 = "ubl journal 1\n"
	journalSuffix = ".journal"
	journalPage   = 4096
	journalBytes  = 2 * mib
	saltSize      = 8
	recordHead    = saltSize + 8 + 4 + crcSize
)

// record is an entry of the journal.
type record struct {
	index uint64
	entry []byte
}

// saltOf is the beginning of a hash of the directory's incarnation and the
// partition's place.
func saltOf(magic string, l label) (salt durable.Salt) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s%s/%d", magic, l.Incarnation, l.Partition))
	copy(salt[:], sum[:])
	return salt
}

func journalHead(magic string, l label) []byte {
	salt := saltOf(magic, l)
	head := append([]byte(magic), salt[:]...)
	return binary.BigEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
}

// createJournal makes an empty journal in place of what was there, or none. All up
// to the index is in the partition's file.
func createJournal(path string, l label, index uint64) error {
	if err := durable.CreateMark(path+ackedSuffix, saltOf(journalMagic, l), index); err != nil {
		return err
	}
	data := make([]byte, journalBytes)
	copy(data, journalHead(journalMagic, l))
	return durable.Replace(path, data)
}

// openJournal opens a partition's journal and reads those of its records that
// come after the index.
func openJournal(path string, l label, sync func(*os.File) error, after uint64) (j *journal, records []record, err error) {
	j = &journal{sync: sync, at: journalPage}
	if records, err = j.load(path, l, after); err != nil {
		return nil, records, fmt.Errorf("couldn't read the journal: %w", err)
	}
	if j.end < journalBytes {
		if err := j.extend(path); err != nil {
			return nil, nil, fmt.Errorf("couldn't bring the journal to its full length: %w", err)
		}
	}
	if j.current(l) {
		if j.mark, err = durable.OpenMark(path+ackedSuffix, j.salt); err != nil {
			return nil, nil, err
		}
	}
	if j.file, err = durable.OpenDirect(path); err != nil {
		if j.mark != nil {
			err = errors.Join(err, j.mark.Close())
		}
		return nil, nil, err
	}
	return j, records, nil
}

// current reports whether the journal is of the version that is written.
func (j *journal) current(l label) bool { return j.salt == saltOf(journalMagic, l) }

// extend gives a file that was cut short the zeros that it lacks.
func (j *journal) extend(path string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(make([]byte, journalBytes-j.end), j.end); err != nil {
		if outOfSpace(err) {
			err = full(err)
		}
		return err
	}
	return f.Sync()
}

// cutShort tells of a journal that lost its end and no record.
func (j *journal) cutShort() error {
	if j.end == journalBytes {
		return nil
	}
	return damaged("the journal was cut short; no record that it acknowledged is missing")
}

// load reads the file from the beginning, and the records after the index. What is
// missing at the end counts as zeros: the records and the mark tell whether anything
// is lost. Where that ends with damage, the records before it are given, too.
func (j *journal) load(path string, l label, after uint64) ([]record, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, journalBytes)
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	j.end = int64(n)
	head, acked := j.head(data, l), uint64(0)
	err = nil
	if j.current(l) {
		acked, err = readAcked(path, j.salt)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return nil, err
		}
	}
	records, lost := j.read(data, after, acked)
	return records, cmp.Or(lost, head, err)
}

// head finds out the version. The records of the newest can be told without a head,
// so what is wrong with that one is given apart.
func (j *journal) head(data []byte, l label) error {
	switch {
	case bytes.HasPrefix(data, journalHead(journalMagic, l)):
		j.salt = saltOf(journalMagic, l)
	case bytes.HasPrefix(data, journalHead(journalMagic1, l)):
		j.salt = saltOf(journalMagic1, l)
	default:
		j.salt = saltOf(journalMagic, l)
		return unsure("it is not the journal of this partition")
	}
	return nil
}

// read finds the records after the index. They end with the first that is not
// valid: the one that was being written. Only one is at a time, so a valid one
// beyond it means that another was damaged later, and so does a mark beyond it.
func (j *journal) read(data []byte, after, acked uint64) (records []record, err error) {
	last := uint64(0)
	for at := journalPage; at < len(data); {
		r, ok := j.parse(data[at:])
		if !ok || last != 0 && r.index != last+1 {
			break
		}
		last = r.index
		if r.index > after {
			records = append(records, r)
		}
		at += recordSize(r.entry)
	}
	if len(records) > 0 && records[0].index != after+1 { // they follow others that are not there
		return nil, &lostRecords{from: after + 1, to: max(acked, j.newest(data))}
	}
	last = max(last, after)
	if beyond := max(acked, j.newest(data)); beyond > last {
		return records, &lostRecords{from: last + 1, to: beyond}
	}
	return records, nil
}

// newest is the highest index of a record that is valid, wherever it stands.
func (j *journal) newest(data []byte) (index uint64) {
	for at := journalPage; at < len(data); at += journalPage {
		if r, ok := j.parse(data[at:]); ok {
			index = max(index, r.index)
		}
	}
	return index
}

// acceptHint is what to do about a journal of which it isn't known what it lost.
const acceptHint = "restore a backup, or go on with the records that are there"

// unsure is damage to a journal of which it isn't known what it lost.
func unsure(what string) error { return fmt.Errorf("%w: %s; %s", ErrJournalLoss, what, acceptHint) }

// lostRecords were acknowledged and are not what was written any more.
type lostRecords struct{ from, to uint64 }

func (l *lostRecords) Error() string {
	return fmt.Sprintf("%v: records %d to %d of the journal were acknowledged and can't be read; restore a backup, or give them up",
		ErrDamaged, l.from, l.to)
}

func (l *lostRecords) Unwrap() error { return ErrJournalLoss }

func (j *journal) parse(data []byte) (r record, ok bool) {
	if len(data) < recordHead || !bytes.Equal(data[:saltSize], j.salt[:]) {
		return record{}, false
	}
	r.index = binary.BigEndian.Uint64(data[saltSize:])
	length := int64(binary.BigEndian.Uint32(data[saltSize+8:]))
	if length > int64(len(data)-recordHead) {
		return record{}, false
	}
	r.entry = data[recordHead : recordHead+length]
	const summed = recordHead - crcSize
	return r, binary.BigEndian.Uint32(data[summed:]) == recordSum(data[:summed], r.entry)
}

func recordSum(head, entry []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, entry)
}

// recordSize is how much of the journal an entry takes.
func recordSize(entry []byte) int {
	return (recordHead + len(entry) + journalPage - 1) / journalPage * journalPage
}

// fits reports whether there is room for an entry before the journal must begin
// again.
func (j *journal) fits(entry []byte) bool { return j.at+int64(recordSize(entry)) <= journalBytes }

// restart lets the next record be the first.
func (j *journal) restart() { j.at = journalPage }

// append makes an entry durable. It must fit. After an error the journal takes
// no more.
func (j *journal) append(index uint64, entry []byte) error {
	record := j.record(index, entry)
	if _, err := j.file.WriteAt(record, j.at); err != nil {
		return err
	}
	j.at += int64(len(record))
	if err := j.sync(j.file); err != nil {
		return err
	}
	j.mark.Note(index)
	return nil
}

// record is whole pages, valid until the next call.
func (j *journal) record(index uint64, entry []byte) []byte {
	size := recordSize(entry)
	if cap(j.buf) < size {
		j.buf = durable.Pages(size)
	}
	head := append(j.buf[:0], j.salt[:]...)
	head = binary.BigEndian.AppendUint64(head, index)
	head = binary.BigEndian.AppendUint32(head, uint32(len(entry)))
	head = binary.BigEndian.AppendUint32(head, recordSum(head, entry))
	record := append(head, entry...)[:size]
	clear(record[recordHead+len(entry):])
	return record
}

func (j *journal) close() error {
	if j.mark == nil {
		return j.file.Close()
	}
	return errors.Join(j.file.Close(), j.mark.Close())
}
