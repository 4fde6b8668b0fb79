// Package media looks into contents that people send: what they are ([Look]), and small pictures
// of images ([Thumbnails]).
//
// The data: none that is kept. A thumbnail follows from its blob, so it lives in memory alone, the
// least recently used going first, and is made once more where it is asked for again. Nothing of it
// outlives the server, so a content that was taken away leaves no picture on a disk.
//
// The way of one look: the first bytes say what the content is, whatever its sender says. Of an
// image the header says how large it is, and the EXIF of a JPEG which side is up. No pixel is decoded.
// Of WebM and MP4 the list of tracks says whether there is a picture: a voice note has none, and is sound.
//
// The way of one thumbnail: the header is read once more, and an image of more than [MaxPixels] is
// refused before anything is decoded. One of few workers decodes it, turns it and makes it smaller.
// What comes out is encoded from pixels alone: it has no metadata. Who asks for what is being made
// waits for that.
//
// What fails: a content that isn't what its first bytes say has no thumbnail. A decoder that panics
// is answered as such a content.
package media
