// Package container is the Container family: one primitive for everything that
// holds things. Whether it is a workspace, a wallet or a kind that nobody has
// thought of yet follows from the physics in its Agreement, not from its code.
//
// # Data
//
// A Container owns its [State], which is derived from its events: who belongs to
// it, what it holds of credits, the newest version of each document without its
// text, and what has left and not arrived yet. It is loaded from a snapshot, the
// documents, and the events since. Stored, in the tenant's group, numbers as 8
// bytes big-endian:
//
//	o container 0 n                 event n: founding, membership, documents,
//	                                credits, transfers, ending (JSON)
//	e container                     counter of events
//	i 4 container                   snapshot of the State, but for documents ([actors.Snapshots])
//	s container                     of versions before snapshots: what the events up to
//	                                one lead to, but for documents (JSON)
//	n container 0 document          the newest version of a document that is inside, or what
//	                                is left of one that was deleted here (JSON)
//	d container 0 document 0 n      version n of a document without its text, with
//	                                the receipt of the act that made it (JSON)
//	x container 0 document 0 n      the text of version n; a version that changed
//	                                the title alone names an earlier one's (JSON)
//	x container 0 transfer 0 0      title and text on their way through a transient
//	                                container, deleted once they have arrived
//	r container 0 transfer          the event with which a transfer ended here (8 bytes)
//	F container 0 file              a file that is inside, with the receipt of the act that
//	                                put it there (JSON)
//	B blob 0 container 0 file       that file refers to a blob ([ubl.BlobRef])
//	k                               idempotency keys ([actors.Keys])
//	y                               index for the Tenant ([agreement.ContainerMemberIndex])
//	v container                     of versions before alarms: something was under way
//
// # Who may
//
// The terms of the Agreement say who may do what (terms.go); its physics say how far they
// reach, and which operations there are. With the usual terms entries may always look. In a
// collaborative container they write and carry things out; in an open one every member of the
// tenant does, entry or not; in a public one too, and anyone looks; in a gated one entries
// write and owners carry out; in a sealed one nothing changes. w:general is
// collaborative, and a member of the tenant joins it with the first act there, in the
// same commit; who left it or was removed stays out.
//
// An act names the Agreement where its author has standing: the container's own for whom it
// lets in, the TenantLicense for who brings credits to what they can't look into.
//
// In the first form of events, collaborative let in the whole tenant. Containers from
// then replay as open, and w:general as one that all may join: nobody loses a place.
// Anyone of the tenant may put credits into a wallet that isn't sealed.
// Who may not look is answered as if the container had never been. After the Agreement's end
// every act is refused.
//
// # The way of one document
//
// CreateDocument is a line of the family's table ([kind]). It checks who may, the
// physics and the text, and leads to one append: the act, the event, the version (sealed
// with its receipt by the ledger), the text and the key. The answer is made of what
// the mailbox had, and equals that of a retry, which is read from what was stored. A
// change of the title alone and a deletion read what an earlier act stored, for their
// answers have it too. Reading is an act as well: it leaves a
// receipt and no event. Versions and texts stay while the document does: those of a strict
// one that moved on are seen again when it comes back. A deletion takes all of them away,
// and from the events what they say of it (redact.go). After the Agreement's end, documents are read under the
// TenantLicense, since an act needs a record that may still be in force.
//
// # The way of what is published
//
// PublishDocuments (publish.go) brings documents up to what a source outside has, such as a Git
// repository: up to a hundred in one act with one event, which has each new version and the last
// one of what the source has no more. A published document has a key, its type and its id, under
// which the State finds it, and says from which file and commit it is ([ubl.PublishedAs]). One
// that says all that is brought already is passed over, so a source may be published whole at any
// time. A change by hand is a conflict, since the next publishing would undo it; a deletion is
// not. What was unpublished and comes back is another document.
//
// # The way of one file
//
// Its content comes first, and is kept as a blob before the act (package blobs). PrepareFile asks
// ahead whether the act would be allowed and has room. PutFile then makes the record, with the
// key that refers to the blob, in one commit. No atom has the content's hash, which would tell
// who guesses at it: content_hash is a commitment with a salt, which the record has. A file never
// changes, and counts with all its bytes for what the tenant may store. RemoveFile takes record and
// reference away and counts them back; nobody refers to the blob any more then, unless
// another file has the same content, and a collection removes it some day. A document may hold
// files (held.go), which go where it goes and with it when it is deleted. On their way with a
// strict document their records stay at the source, in nobody's reach, until they have arrived, so
// that what refers to the blobs is always there. Reading is an act, of content and
// record alike; who reads parts of a content acts once for each request.
//
// # The way of one look without an identity
//
// LookPublic, ReadPublic, ListPublic, and those for files and searches (public.go) are answered for what the terms of a public
// container show to anyone, while its Agreement and its tenant's are in force. They are no
// acts, and leave no receipt. Each answer says how many events the container had: a copy is
// right for as long as that stays the same, and each event of a public container is
// told (container.changed).
//
// # The way of one transfer
//
//	source   is the target there for the caller? then container.transfer, with status
//	         intended: what leaves is in transit, and pending at the source
//	target   takeIn: container.receive, once for each transfer; a refusal is put on
//	         record too, and so is as final as an arrival
//	source   settle: the effect closes the intended action, as arrived, or
//	         as an error that brings what had left back
//
// Each step is a commit and may be repeated: by the caller's retry, and by the
// transfer's alarm, which the departure sets and the end clears.
// So credits and strict things exist in one place, counting what is in transit. A
// transfer is in transit until the target's act is there; the source counts it for
// a moment longer, until it has heard. A copy arrives once.
//
// The source knocks at the target before anything else, because a refusal for being
// unknown would be on nobody's record, and the target could be founded a moment
// later. Containers are never removed.
//
// # What fails
//
// A refusal changes nothing, but for that of a target. A failed commit ends the
// group; the Container is loaded from what is stored. A transfer whose caller gets
// unavailable goes on with the next retry or its alarm.
package container

import (
	"encoding/binary"

	"ubl"
	"ubl/actors"
)

// refEvent is the one kind of outcome of an idempotency key.
const refEvent = 'o'

// place is where a container's events are.
func place(name ubl.Name) actors.Place {
	id := ubl.ContainerID(name.Local())
	return actors.Place{
		Key: func(n int64) []byte { return eventKey(id, n) }, Counter: eventCounter(id), Ref: refEvent,
	}
}

func eventKey(c ubl.ContainerID, n int64) []byte { return numbered('o', string(c), n) }

func versionKey(c ubl.ContainerID, d ubl.DocumentID, n int64) []byte {
	return numbered('d', within(c, string(d)), n)
}

// textKey is that of a document's text, or of a transfer's with n 0.
func textKey(c ubl.ContainerID, id string, n int64) []byte {
	return numbered('x', within(c, id), n)
}

// endKey has the event in its value: a transfer ends once.
func endKey(c ubl.ContainerID, x ubl.TransferID) []byte {
	return append([]byte{'r'}, within(c, string(x))...)
}

func checkpointKey(c ubl.ContainerID) []byte { return append([]byte{'s'}, c...) }

func newestKey(c ubl.ContainerID, d ubl.DocumentID) []byte {
	return append([]byte{'n'}, within(c, string(d))...)
}

// newestKeysEnd bounds the keys of a container's documents.
func newestKeysEnd(c ubl.ContainerID) []byte { return append(append([]byte{'n'}, c...), 1) }

// within is the name of something inside a container.
func within(c ubl.ContainerID, id string) string { return string(c) + "\x00" + id }

// numbered is a key of an ordered space; n < 0 is the space's end.
func numbered(space byte, id string, n int64) []byte {
	b := append([]byte{space}, id...)
	if n < 0 {
		return append(b, 1)
	}
	return binary.BigEndian.AppendUint64(append(b, 0), uint64(n))
}

func eventCounter(c ubl.ContainerID) []byte { return append([]byte{'e'}, c...) }

// runs are a container's runs of keys.
func runs() []ubl.Numbers {
	return []ubl.Numbers{{Space: 'o', Counter: "e", Named: true, FromOne: true, Fixed: true, Rewritten: redactedMark}}
}

// counted is what of a container's records counts as stored: events, versions, texts, and the
// contents of files.
// A text of number 0 is on its way to another container.
func counted() []ubl.Content {
	return []ubl.Content{{Space: 'o'}, {Space: 'd'}, {Space: 'x', Counts: func(key []byte) bool {
		return len(key) > 8 && binary.BigEndian.Uint64(key[len(key)-8:]) > 0
	}}, {Space: 'F', Weighs: fileBytes}}
}
