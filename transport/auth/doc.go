// Package auth answers one question for every transport: who is calling.
//
// # Credentials
//
// A request names its caller in one of these ways:
//
//   - Authorization: Bearer <JWT>, made by this node's key ("ubl token") or by
//     a configured OIDC issuer; at an MCP server also an agent's access token, made by
//     this node's key for that server's URL (package oauth);
//   - CF-Access-Client-Id and CF-Access-Client-Secret, a service token that an
//     owner made over REST; or the same as one string, Authorization: Bearer
//     ubl_<digits of the id>_<secret>_<tenant>, as "ubl token --service" prints it;
//   - the cookie of a session, for what pages of this server ask: REST and
//     streams, never MCP;
//   - Cf-Access-Jwt-Assertion: <JWT>, which a proxy in front of us adds.
//
// The first of them that is present decides alone: a bad one never falls back
// to the next. What the client sent itself beats what a proxy added, so that an
// agent can pass Cloudflare Access with one credential and be itself here with
// another. A bearer token together with service headers names two callers and
// is refused.
//
// What an issuer's claim "name" or a service's own name says goes into the tenant
// with them, which takes it where they have no name there.
//
// # The way of one request
//
//	headers ──► SHA-256 of the credential ──► cache ──► Enter of the tenant ──► envelope.Caller
//	                                            │ not there: once for all who wait
//	                                            ▼
//	               signature, issuer, audience, times, address ──► FindHome, AdmitToken of tenant 0
//
// Which tenant somebody belongs to follows from no address: tenant 0 says it, once for
// each credential, from what has claimed the domain and where they are a member.
//
// A token is verified at its first use and remembered, by its hash and never
// itself, until it expires. A token of this node is also admitted by tenant 0,
// which receipts its first use and refuses a revoked one, and asked about again
// every 30 seconds. A service token and an agent's access token are asked about at every request. In between,
// the ledger feeds tell of revocations at once.
//
// # Sessions
//
// A session begins when somebody has proved who they are to [Authenticator.Browsers]:
// by a link that a node printed, a passkey, a provider, an invitation. Its cookie
// is a token of the node's key, of an audience of its own, so that neither passes
// for the other, and carries the whole identity: any node of a cluster takes it.
//
//	cookie     `ubl`, under TLS `__Host-ubl`; HttpOnly, SameSite=Lax, never in the log
//	id (jti)   drawn when the session begins, which ends the one before; names it
//	           wherever it is listed or revoked
//	turn       rises each time the cookie is made anew: by a request that comes when
//	           it is an hour old
//	ends       12 hours after the newest cookie was made, 30 days after it began,
//	           or when it is revoked, on every node and for streams at once
//
// Tenant 0 receipts the beginning, each next cookie at its first use, and the end.
// A fresh cookie that never arrived is of no account; the one before is taken for
// another minute once the fresh one is used (other tabs still send it).
//
// Browsers send cookies unasked. So a session's cookie counts only for requests of
// this server's own pages, whatever the method: reading and searching leave receipts
// too. Sec-Fetch-Site must be same-origin or none. Where a browser sends none (an old
// one, or plain http to a name other than localhost), Origin, X-UBL-As or Referer must
// prove it; without proof the answer is 403. Signing in and out refuses what changes
// something from another site (net/http's CrossOriginProtection). Answers to cookies
// are kept by no cache, and embedded by no other site.
// A page says in X-UBL-As whom it shows ("<tenant_id>|<user_id>"), and is refused
// where the cookie has become another's, for streams too.
// Two cookies of the one name come from two places and count for nothing. Tenant 0
// has sessions of its operators only, as this node was told who they are.
//
// Ending all sessions leaves passkeys. A backup knows nothing of what was revoked
// after it was made: restored, it takes those cookies again until they expire.
// Cookies know hosts and no ports, so that over http other programs of the host see
// them: only https keeps them apart.
//
// A sign-in link is 128 random bits; tenant 0 knows their hash from before the link
// is printed. Opening it shows a page, so that a mail scanner or a preview doesn't
// use it up. Confirming begins a session, in the same commit that uses up the link.
//
// # Passkeys and providers
//
// Both are ceremonies: one request begins, another ends, and what the second must
// know of the first waits in a cookie, sealed under a key that is derived from the
// node's and the cookie's name. So any node ends what another began, nobody reads or
// changes it, and none passes for another. Its name is a hash of what comes back with
// the second request (challenge or state): tabs don't get in each other's way.
//
//	POST login/begin      a challenge, in 5 minutes' cookie; no address is asked
//	     device           signs challenge, origin and relying party, for its owner
//	POST login/finish     FindPasskey of tenant 0 ► signature, handle ► Enter of the
//	                      tenant ► UsePasskey, on record ► session
//	GET  oidc/{id}/start  state, nonce and PKCE verifier, in 10 minutes' cookie
//	     provider         asks who it is, and sends the browser back with a code
//	GET  oidc/callback    iss ► code for id token ► nonce, and all that is checked of
//	                      a bearer token ► Enter of the tenant ► session
//
// A challenge serves once, on whatever node: it is the key of the act that signs in.
// A passkey belongs to one person of one tenant, as they were when they registered
// it but for their groups, which only a provider says; that takes a session, which an agent with their token hasn't. Providers see the
// same way from claims to identity as their bearer tokens take.
//
// # Confirming
//
// Sensitive acts ask who somebody is once more: [envelope.Caller.Confirmed] refuses a
// session whose proof is older than [envelope.FreshFor]. The proof's time is in the
// cookie (proved_at; without it, auth_time, when the session began), so that any node
// knows it.
//
//	GET  confirm                what the person has to confirm with
//	POST confirm/passkey/*      one of their own passkeys, for this very session
//	GET  oidc/{id}/start?confirm=1   max_age=0 ► same person, auth_time since ► session
//	POST confirm/link           for who has neither, or a provider that never says
//	                            auth_time (such a session begins unproven): the node prints a link, and a sealed
//	                            cookie ties it to this browser and session
//
// A confirmation admits another session in the place of the one at hand, with the same
// end and the same groups, answers with its cookie, and then revokes the one before:
// what was sealed for that one is used up with it. Whatever fails leaves the session as
// it was, and not fresh.
//
// # Command lines
//
// "ubl login" gets a token for the person of a session: cli.go has the way. The token
// carries the whole identity, as a cookie does, and is a bearer token otherwise. Who may
// read the key's file asks by a voucher where an address belongs, and for a sign-in link:
// keyholder.go.
//
// # Invitations
//
// The link of an invitation names the tenant and carries a secret, of which the
// tenant keeps the hash. GET shows whom it is for and changes nothing; POST has the
// tenant make an unproven member of them, and begins their session. Only the path carries
// the secret, and the access log has routes.
//
// An unproven member goes to a provider from their session (?prove=1) to be verified.
// Who they are goes along in the ceremony's cookie, and what comes back must have the
// invitation's address, verified:
//
//	GET oidc/callback ► FindHome ► KeepHome of tenant 0 ► ProveMember of the tenant
//	                  ► RevokeTokens of what the link began ► session
//
// Who is a member of another tenant by that sign-in gets a page instead, which says what
// would change; what was verified waits in a cookie until its form comes back (POST
// move). An address whose domain another tenant has claimed is refused.
//
// A crash in between leaves a member who is still unproven, or one who comes in by the
// provider.
//
// # Data and who owns it
//
// The cache owns its entries (at most 10,000, least recently used go first);
// its mutex guards them. When an entry leaves, for whatever reason, its Revoked
// channel is closed: a live stream ends and its client comes back to be
// verified anew. An OIDC issuer's keys are owned by go-oidc and fetched when a
// token first needs them, so a provider that is down does not stop us from
// starting. The node's key is read once and held in memory.
//
// # Rotation
//
// The file of a [Key] may hold those before it, each with its end. The node signs
// with one and accepts all that haven't ended; SetKey changes them while it runs,
// and ends what the changed ones signed, to be verified once more.
//
// # What fails, and then what
//
// A credential that is missing or wrong is a 401 with code unauthorized; what
// was wrong beyond that goes to the debug log, never what was sent. A provider or a
// tenant that cannot be reached is a 503, to be retried: nobody is let in on a guess.
// The exception is a token that was admitted within the last five minutes while
// tenant 0 cannot be reached: without tenant 0 nothing can be revoked either.
//
// The ledger of each tenant that has a credential in the cache is listened to, once.
// Who leaves the tenant loses their entries with the commit that says so.
package auth
