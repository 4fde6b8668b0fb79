// Package oauth is the server's own authorization server (OAuth 2.1), by which people let
// agents act for them: clients of the Model Context Protocol that nobody has given a token.
//
// # Data and who owns it
//
// Nothing of a stranger is kept. What has to be known later is a stamped value, which its
// holder brings back: JSON with a MAC under a key that is derived from the node's, one for
// each kind. Any node of a cluster reads what another stamped, nobody changes it, and none
// passes for another kind.
//
//	client id      a registered client's metadata, for as long as the node's key is known
//	form           what a page asked whom, in which session; 1 hour, once
//	code           what was allowed, to whom; a minute, once
//	refresh token  of which agent, with two secrets; until the next one
//
// What a person has allowed is the Tenant's: a service with a mandate, and hashes of its code
// and refresh token ([ubl.ConnectAgent]). Documents of clients are kept in memory, 1,000 of
// them, for as long as they say: a minute to a day.
//
// # The way of one authorization
//
//	POST /oauth/register    metadata ► client id. Or the client id is the address of its document
//	GET  /oauth/authorize   client, redirect, PKCE, resource ► session? ► page that asks
//	     /ui/sign-in        where nobody is signed in, and back here
//	POST /oauth/consent     session, form, fresh proof ► ConnectAgent ► the agent enters the
//	                        chosen places, added by the person ► code
//	POST /oauth/token       client, code, verifier ► RedeemAgentCode ► access and refresh token
//	POST /oauth/token       client, refresh token ► RefreshAgent ► the next of both
//	POST /oauth/revoke      either ► RevokeAgent
//
// An access token is a JWT of the node's key, of type at+jwt, for one MCP server. Package
// transport/auth signs it and takes it there and nowhere else.
//
// A browser's cookie counts only for what pages of this server ask. So a link of another
// site shows a page first, that says who asks and leads on.
//
// # What fails, and then what
//
// Where client or redirect are wrong, the person is told on a page, and nobody is sent
// anywhere. What else is wrong with a request is for the client to know: it is sent back at
// once to a program on this machine. Elsewhere the person is asked first, since anybody can register a
// client, and our address must lead to no page of theirs by itself.
//
// Calls of one client that refresh at once with the same token all get the same next one, whichever
// node answers: its secret is made of the token's own. A code that comes twice, and a refresh token
// a minute after its next one was given or once that was used, end the agent: one of the two who
// had it is a thief. A place that the person may not add somebody to is named on
// a page, and the agent is connected all the same. A form that was sent twice allows once.
// Where a tenant can't be reached nothing is given: 503, to be retried.
package oauth
