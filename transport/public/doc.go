// Package public is the way in for callers without an identity: it serves what public
// containers show to anyone, and nothing else. Whoever asks, the answer is the same, so that
// copies of it may be kept anywhere.
//
//	/public/{tenant}/{container}                        the container
//	/public/{tenant}/{container}/documents              its documents, ?cursor=
//	/public/{tenant}/{container}/documents/{document}   one with its content, ?version=
//	/public/{tenant}/{container}/files                  its files, ?cursor=
//	/public/{tenant}/{container}/files/{file}           what is known of one
//	/public/{tenant}/{container}/files/{file}/content   its bytes, or a Range of them
//	/public/{tenant}/{container}/search                 documents found by ?q=, 20 at most
//	/public/{tenant}/{container}/api/v1/…               what was published in it, by the names of its source: see knowledge.go
//	/public/{tenant}/{container}/mcp                    the same for agents, by MCP: package commons
//
// Under a host name of the operator's choice the same is there without /public.
//
// # Data
//
//	answers   made by the containers; a node keeps copies in memory, up to 64 MiB, of all
//	          public containers together
//	shelves   what a node last heard of a container: how many events it has, and until when
//	          that counts; at most 1,000, and a subscription for each tenant among them
//	absences  names that lead nowhere, for a second; at most 10,000
//
// Nothing is stored, and no read is on record: it is counted (ubl_public_reads_total), and has a
// line in the access log.
//
// # The way of one read
//
//	limits      the address may read so often a second
//	path        becomes a place; what is malformed is 404, a query that isn't known 400
//	copy        is there, and its container still has as many events: done
//	check       else its container is asked how many events it has, which is in memory
//	fetch       where there is no copy, or the number has changed: the container is asked
//	            for the document, at the node that leads it; of this an address may do less
//
// Many who ask the same at once are one question. So a container is asked once a second
// while it is read, and what it shows once after each change.
//
// Searches are never kept, so each asks the container, 16 at a time and 8 of a tenant's: all else is read
// while they wait. So does each content for its limit: it is
// sent from the blobs, 8 at a time to an address and 256 in all. The usual terms of public
// containers show their documents to anyone; files only where terms permit office.file.list and
// office.file.get to anyone.
//
// # When a change is seen
//
// A public container tells of each of its events before the act is answered. The node that
// runs it drops what it knows then: a read that begins after the act was answered shows the
// act. Other nodes hear of it a moment later, and if they don't, what they know ends after a second.
// Copies outside last as Cache-Control says: they may be shown for 30 seconds, and for 30 more
// while they are asked for again. (Below api/v1 it is five minutes and an hour, as clients of knowledge
// commons expect.) So what else is public no longer is gone everywhere after 61
// seconds. A name that led nowhere may do so for a second longer.
//
// # What fails
//
//   - A container that can't be asked: 503, also where there is a copy that is too old. It might
//     not be public any more.
//   - The way to a tenant's ledger is made anew: everything of the tenant is checked. What was
//     missed otherwise is seen after the second.
//   - Names that lead nowhere: each costs its container's partition a look into the store,
//     which a limit for each address and one for the node bound. They take no room from copies.
//   - Cookies, credentials and the page that asks: nobody looks at them here, and none is set.
package public
