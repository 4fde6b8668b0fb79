// Package irc connects a room with channels of IRC. It is a bridge as anybody could write one: all
// that it knows of a server is a [Room], which the public API fills, and no other package of the
// house knows of it.
//
// What is said in the room is said in each channel, by one nick for all people, behind their name.
// Each channel has a place in the room up to which it was told, in a file, so that after a crash it
// goes on from there. The place moves once the IRC server has answered a PING that follows the line:
// a crash between the two repeats one line, and nothing is lost. IRC has no keys to rule that out.
//
// What is said in a channel is written into the same file before it is posted, under a key that
// stays the same at every attempt. So it is posted once, whatever crashes. What is said while the
// bridge isn't in the channel nobody can tell it later.
//
// Two bridges at one room or one channel don't hear each other: a line that begins as a bridge's
// does is passed over, in the room as in a channel. Notices are passed over, too, since by the rules
// of IRC programs don't answer them.
package irc
