// Package search is full text over the documents of containers, and over the messages of
// a tenant's rooms, on bleve.
//
// # Data and owners
//
// An [Index] owns a directory with one bleve index a container, each in a folder
// named after the hash of the container's actor. All of it is derived: any folder
// may be deleted at any time and is made again from the documents when one of them
// changes, or the container is searched. Without the directory all are made again, in the
// background. Stored with each index is the mark of the last
// event it has seen, in the same batch as what the event changed. An index that is
// closed is sealed with the checksums of its files. A file for each tenant says how far its
// ledger is in the indexes ([Index.Keep]).
//
// At most 64 indexes are open; the one not used for longest is closed for another.
// A container's index is written by one errand at a time and read by several searches.
// On the whole node four searches look things up at once, two of one tenant, and one batch
// is written: what that takes of memory goes by the size of documents. The others wait,
// until their context ends, and tenants wait in turn. An index keeps no texts: excerpts are cut from the
// documents as they are stored. Of each document it keeps a digest, the stems that it has most often.
//
// The messages of a tenant have one index, whatever their rooms, since a person searches in
// all of theirs at once. What follows the tenant's ledger has each room that an act names
// say what has changed in it (package room), a second after the first of them. Kept with
// the index are how far it has each room, and how far the ledger is in it.
//
// # The way of one search
//
//	open      the container's index, from memory or disk, or a new one
//	catch up  an errand in the background: the container tells what changed after the
//	          mark; its history must lead through that mark, else the index is of
//	          another history (a backup was restored) and is made anew
//	wait      for the errand, five seconds at most; a search that is left behind
//	          answers with what the index has, and says up to where that is complete
//	find      the words are looked up and ranked by BM25, a match in the title
//	          counting three times; of a question as below
//	excerpt   the part of the text that shows most of what was asked for, with the heading
//	          that it stands under
//
// What follows the ledger has the index caught up before anybody searches
// ([Index.CatchUp]). An errand that no search waits for rests for nine times as long as a
// batch took, so that it leaves processor and disk to those who write. A batch has 256 KiB
// of text, or one document that is longer: bleve takes up to a hundred times as much while
// it indexes them.
//
// A search for messages asks the tenant's index for those of the rooms that the person is in:
// the rooms are part of the lookup, so that neither order nor number tells of others. Each room then says
// again who may read what was found, and how it reads now: an index that is behind shows
// nothing that has been edited, redacted or closed. Where the index isn't whole yet, the answer says so.
//
// # The query
//
// Words must all occur, in the title, the content or the names of the document, which are those of
// its file and its aliases. "Words in quotes" must follow
// each other. A word* with an asterisk is the beginning of a word, of two letters
// or more. All beginnings in a query stand for 10,000 words of titles, names and contents at
// most, or the query is refused. Nothing else means anything: punctuation separates words. Case, accents and the width of
// letters make no difference; words are not reduced to stems: who asks for all words means these.
//
// # The question
//
// Of a question any word may occur, and in any of its forms. A document's words are indexed by their
// stems in its language, which the words tell that stand in every text of one; where they don't, in all that
// there are (English, German and Spanish; Arabic by its letters). A question's words are looked up by their stems in all languages.
// Common words are passed over, and so are those that more than half of the documents have. Documents are
// ranked by BM25, the best 200 once more with the words that the best five have in common (see ranked.go).
// Neither quotes nor asterisks mean anything.
//
// Conditions hold for both: what a document's metadata says, as a name with a value, and its date. They are part of the lookup.
//
// # What fails, and then what
//
// An index that can't be opened or read is deleted and made anew, once; if that
// fails too the search is unavailable. An errand has no end but the last change: a
// search that gives up leaves it running. Close ends it, and what it has written stays.
//
// An index of messages that is damaged, of another form or of another history is thrown
// away and filled again from the rooms, in the background.
package search
