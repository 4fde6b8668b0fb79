// Package knowledge reads a knowledge commons: a folder of Markdown files, the vault, whose front
// matter says what each file is about and whether it may be published.
//
// The data: an [Ontology], which is data itself and may be replaced; an [Entry] for each file; the
// links between entries, both ways. The package keeps nothing, and asks nobody: it has no actors,
// no network and no clock, so that the same files always make the same entries.
//
// The way of one file: [Ontology.Parse] checks its text, reads the front matter, finds its type by
// what it says and else by its folder, holds the fields against the type's JSON Schema, and finds
// its links. [Read] does that for each file of a vault, and [Assemble] for the whole: it resolves
// the links and finds files that would be stored under one key. [Chunks] parts a body for search.
//
// What fails: nothing of a file ends the reading of a vault. What is wrong with a file is in its
// Problems, with its line, and their severity says what follows: see [Severity]. Vaults come from
// strangers, so every step has a bound, and takes time in proportion to what it reads.
package knowledge
