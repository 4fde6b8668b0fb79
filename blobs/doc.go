// Package blobs keeps the contents of files: in a local folder ([Folder]) or in a store that
// speaks S3 ([Bucket]), and takes them in by uploads that can be resumed ([Uploads]).
//
// # The data
//
// A blob is named by its SHA-256, and lies under its tenant: two tenants with the same content
// have it twice, so that nobody finds out what another tenant keeps. A data directory holds
//
//	blobs/kept/t_acme.com/4f/4f0a…    a blob; its name is its hash
//	blobs/damaged/t_acme.com.4f0a…    one that the scrub found changed, kept aside
//	blobs/uploads/up_0123…/data       what has come in of an upload
//	blobs/uploads/up_0123…/upload     what it is to become (JSON, version 1, see [session])
//
// Which blobs are needed is no business of this package: records refer to them ([ubl.BlobRef]),
// which acts make and remove.
//
// # Who owns it
//
// Each upload has one writer at a time. A newer request for it interrupts the one before, whose
// connection may be dead without the server knowing, and waits until what that brought is
// durable. A blob is owned by nobody, for it never changes. Keep and Remove of one blob exclude each
// other, so that what is kept once more isn't removed at that moment.
//
// # The way of one upload
//
//	Begin     a directory and its record, durably; its sender has its length reserved
//	Append    bytes go into the file and through the hash. Every 64 MiB the file is synced, and
//	          then the record, with the offset and the state of the hash: a checkpoint.
//	          It runs beside the bytes that follow. The end of a request is one, too
//	Finish    the offset is the length: the record gets the hash. Where there is a [Scanner], it looks into the file;
//	          who asks meanwhile is told so. The file becomes the blob ([ubl.Blobs].Keep). A repetition answers the same
//	          The act that refers to the blob comes next; it is the container's. The newest hundred
//	          of each person are remembered
//	expiry    the directory goes, a day after its last byte
//
// It has the shape of the IETF's draft-ietf-httpbis-resumable-upload: HEAD tells Upload-Offset, PATCH
// appends at it, DELETE ends. tus has the same three under other names; the draft is what
// browsers and proxies are going to know. What differs: an upload is made by a JSON POST, since
// its tenant must let it in before any byte comes, and another POST makes a file of it,
// since that is an act with a receipt and an idempotency key.
//
// # What fails, and then what
//
//   - The connection breaks: what came in is checkpointed, and the sender goes on from there.
//   - The process is killed: at the next start the file is cut to its newest checkpoint, which is
//     the offset that senders are told.
//   - It is killed within Finish: the record has the hash before the file moves, so a
//     repetition finds the file in one of the two places.
//   - The sender never comes back: the upload expires. Nothing of it is left.
//   - The content isn't what its sender said it is: the upload ends with a conflict.
//   - The scanner finds something: that is put on record, then all of the upload goes, and its sender hears forbidden.
//   - The scanner says nothing: the request fails as the scanner does, and the upload waits for the next.
//   - The disk is full: the request fails with unavailable; what was durable stays.
//   - A blob is changed on disk: a whole read of it fails before its last byte, and so does a
//     pass of the scrub, which puts it aside. In a cluster another node's takes its place.
//   - Nothing refers to a blob: a [Collector] removes it, two days after it was kept last, and
//     puts on record that it does.
package blobs
