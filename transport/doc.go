// Package transport is the HTTP server: what every request goes through before
// and after the package that answers it.
//
// The data: none that lasts. The server owns its two listeners, its metrics
// and whether it is stopping; an exchange (request id, status, bytes) belongs
// to its request's goroutine.
//
// The way of one request:
//
//	exchange   a request id, in the answer's header from here on; the body is
//	           bounded to 8 MiB and has 30 s to arrive
//	open       metadata and the endpoints of OAuth clients: from whatever page, without a cookie
//	anyone     under /public, and under a host name for it alone, package public answers: whoever
//	           asks, and from whatever page
//	origin     what foreign web pages make a browser send is refused with 403
//	caller     under /api, /mcp and /portal/mcp: package auth says who it is
//	answer     packages api, sse, mcp and web
//	exchange   status, bytes and time go to metrics and the access log
//
// Routes of its own: / leads to the app and /favicon.ico to its icon, /healthz that the process runs,
// /readyz whether every request can be served (/readyz?traffic, for balancers: whether
// some can; the status is "degraded" where some can't), /metrics the figures. The main listener
// shows /metrics to direct peers on this machine only, because it may be
// public; the admin listener, which is off unless asked for, shows it to
// whoever reaches it, and pprof besides.
//
// What fails: a handler that panics is answered for with 500 internal, or its
// connection is cut where half an answer was out; the log has the stack and
// the request id. Slow clients run into deadlines: 10 s for headers, 30 s for a
// body, 60 s for an answer (streams and exports set their own, piece by
// piece). Stopping lets requests under way finish for a bounded time while
// streams end, and then closes what is left.
package transport
