// Package sse is the live streams: GET /api/events/rooms/{roomId} for one room,
// GET /api/events for all rooms of the caller, and GET /api/portal/logs/live for
// the portal's log, as Server-Sent Events. What follows is about the first two;
// the log's stream has no history behind it (see [Hub.Calls]).
//
// # Data and owners
//
// A [Hub] keeps one follow per actor that has listeners on this node: a Room
// for room streams, a tenant's LedgerShard for tenant streams. A follow owns
// the subscription, a bounded ring of events rendered once into the bytes of
// their frames, and the set of its listeners. A listener is one request's
// goroutine; it owns its cursor and its response. There is no queue a
// listener: what it has not read is in the ring, or else in history.
//
// A cursor is the position of the last event a client has: a room_seq in a
// room stream, a seq of the tenant's ledger in a tenant stream. It is written
// as the event's id. The ids of tenant streams ("l0-42") are opaque: clients
// hand them back and must not read them.
//
// # The way of one event
//
//	publish   the actor's sink renders the frame and puts it into the ring, O(1)
//	          in the number of listeners
//	wake      the follow's waker pokes every listener's one-slot channel, a few
//	          at a time: on the whole node at most 4 listeners a processor are woken
//	          and don't run yet, so that requests never queue behind a room's streams
//	read      a listener takes all that is new, up to 64 KiB, as slices of the
//	          ring's own memory; it reads a view of the ring that never changes, so
//	          the publisher waits for nobody
//	write     one write under a deadline, one flush; then a wait, where the streams of
//	          the caller's tenant have sent more than their limit lets them
//
// Who is writing just now (room.typing), and who is in the room's call (room.call), goes another way: a follow keeps the newest of each
// person for 5 s beside its ring, without a position, and a listener is sent what it has not
// been told. It is in no history, so nobody is told after that time.
// A room's stream with only=typing tells of nothing else: for pages that have the messages from
// the stream of all rooms.
//
// # What fails, and then what
//
//   - A publication is missed (its leader died first): the next one shows the
//     hole, or the durable head asked every 2 s does. The ring restarts above
//     the hole, and listeners page what is missing from history.
//   - A listener is slower than the ring: it pages from history.
//   - The streams of a tenant send more than others should feel: each waits for its turn
//     after what it wrote, and hears of its end meanwhile.
//   - A listener doesn't read: its write deadline ends it. Nobody waits for it.
//   - Retention took what a cursor asks for: room.gap tells what is left.
//   - A cursor is beyond the head (the server was restored from a backup): the
//     stream goes on from the head. A room stream says so with room.gap, a
//     tenant stream resets the client's last id.
//   - ToolAccess closes messenger.stream_room, for which the streams stand (the
//     log's is portal.log.list): the stream ends when the tenant is asked next,
//     which is every 30 s. Who may not use messenger.history can't begin behind
//     the head, and so can't resume where they missed something.
//   - A membership of a room ends: a tenant stream goes on without it, and says so with
//     room.left, which has no id. A client that wasn't there lists its rooms anew.
//   - Membership, token or node ends: the stream ends before its next event.
//     A member_left publication can be missed too, so membership is asked again
//     every 30 s, and by every page.
//   - Actors are unavailable: a page is tried again every second, ten times.
package sse
