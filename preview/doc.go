// Package preview says what the pages are about that a message links to: title, description and a
// small picture of each. The server asks for the pages, never the reader's browser, so no page learns
// who reads, and nothing is shown that comes from elsewhere.
//
// # Data
//
// None that is kept. A preview follows from a link, so it lives in the memory of the node that made
// it, apart for each tenant, the least used going first. It is no part of a message: no ledger, no
// export and no backup has one, and a message that is edited or redacted needs nothing taken away.
// Each node fetches for its own readers.
//
// # The way of one look
//
//	a reader shows a message   GET …/entries/{id}/previews: the room says whether they may read it
//	Links                      its first three links, but those in code and in <angle brackets>
//	Of                         what is in memory, at most six hours old; else one fetch for all who wait
//	fetch                      places and host limits, then the page by the guarded way of package portal
//	parse                      Open Graph, then Twitter cards, then the page's own title and description
//	image                      fetched in the same way, and encoded anew from its pixels
//
// Sending waits for none of that: it begins when somebody looks.
//
// # Bounds
//
// Five seconds for a page and as many for its picture, waiting for a place included; 512 kB of a page
// and 2 MB of a picture, as they are when unpacked; 16 megapixels; three redirects, each of which the
// guard checks, and none from https to http; 16 fetches at once, 4 of a tenant; two a second from one
// host after the first eight. The guard looks at the address that is dialled, so a name that changes
// its mind leads nowhere. Requests have no cookie, no referrer and a User-Agent of their own.
//
// # What fails
//
// Every failure is the same quiet thing: no preview. It is remembered for ten minutes, as is what a
// page wants kept nowhere (Cache-Control: no-store). What was refused for want of a place or by the
// host limit isn't remembered. A page that asks for a password, and says nothing for others to show, is
// a sign-in page in front of what was linked: it has no preview.
//
// Which link a preview is of is what the message says, and its host is shown beside whatever a page
// calls itself. Words of pages lose what can't be seen or turns the direction of writing.
package preview
