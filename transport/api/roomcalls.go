package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the algorithm is the TURN servers'
	"encoding/base64"
	"fmt"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// CallServers are the STUN and TURN servers by which browsers in a call reach each other. The zero
// value is none: then browsers find others in their own network alone.
type CallServers struct {
	// URLs of STUN and TURN servers, such as stun:stun.example.com or turn:turn.example.com:3478.
	URLs []string
	// Secret is what TURN servers share with this one. With it each browser has a credential of its
	// own for [CallCredentialFor]; without it there is none.
	Secret string
}

// CallCredentialFor is how long a credential for TURN servers is good. A call that goes on has
// browsers ask again before.
const CallCredentialFor = 6 * time.Hour

// callServer is a server as browsers take it.
type callServer struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// For lists the servers that one person's browser may use. The credential follows coturn's REST scheme: the username
// is the time until which it is good, in seconds since 1970, and the person, and the password the
// HMAC of that by the secret.
func (s CallServers) For(user ubl.UserID, now time.Time) []callServer {
	if len(s.URLs) == 0 {
		return []callServer{}
	}
	one := callServer{URLs: s.URLs}
	if s.Secret != "" {
		mac := hmac.New(sha1.New, []byte(s.Secret))
		one.Username = fmt.Sprintf("%d:%s", now.Add(CallCredentialFor).Unix(), user)
		mac.Write([]byte(one.Username))
		one.Credential = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return []callServer{one}
}

// CallPath names a call of a room in a path.
type CallPath struct {
	RoomPath
	CallID string `path:"callId" pattern:"^[1-9][0-9]{0,18}$" example:"41" doc:"The call, by its id."`
}

type beginCallInput struct {
	RoomPath
	Body *KeyBody
}

type roomCallAnswer struct {
	Call *ubl.RoomCall `json:"call"`
}

func (a *API) beginCall(ctx context.Context, in *beginCallInput) (any, error) {
	call, err := ubl.Ask[*ubl.RoomCall](ctx, a.Asker, room(ctx, in.RoomID), ubl.BeginRoomCall{Request: envelope.Command(ctx, keyIn(in.Body))})
	if err != nil {
		return nil, err
	}
	return roomCallAnswer{call}, nil
}

type beInCallInput struct {
	CallPath
	Body struct {
		Session string       `json:"session" pattern:"^[A-Za-z0-9_.-]{8,40}$" doc:"What this browser calls itself: other than any other one, and the same during a call." example:"phone-4711"`
		After   int64        `json:"after,omitempty" minimum:"0" doc:"The n of the newest signal that has come. Those up to it are not answered again."`
		Leaves  bool         `json:"leaves,omitempty" doc:"Leave the call."`
		Servers bool         `json:"servers,omitempty" doc:"Answer the STUN and TURN servers, too." example:"true"`
		Signals []callSignal `json:"signals,omitempty" maxItems:"100" doc:"What to pass on to others in the call."`
	}
}

type callSignal struct {
	To   string `json:"to" pattern:"^[A-Za-z0-9_.-]{8,40}$" doc:"The session that it is for." example:"desk-0815"`
	Data string `json:"data" minLength:"1" maxLength:"16384" doc:"What only that browser reads." example:"{}"`
}

type inCallAnswer struct {
	InCall  ubl.InCall   `json:"in_call"`
	Signals []ubl.Signal `json:"signals"`
	Servers []callServer `json:"servers,omitzero"`
}

func (a *API) beInCall(ctx context.Context, in *beInCallInput) (any, error) {
	c := ubl.BeInRoomCall{Who: caller(ctx), CallID: in.CallID, Session: in.Body.Session, After: in.Body.After, Leaves: in.Body.Leaves}
	for _, s := range in.Body.Signals {
		c.Signals = append(c.Signals, ubl.Signal{To: s.To, Data: s.Data})
	}
	news, err := ubl.Ask[*ubl.CallNews](ctx, a.Asker, room(ctx, in.RoomID), c)
	if err != nil {
		return nil, err
	}
	out := inCallAnswer{InCall: news.InCall, Signals: list(news.Signals)}
	if in.Body.Servers {
		out.Servers = a.CallServers.For(c.Who.UserID, a.Now())
	}
	return out, nil
}

type endCallInput struct {
	CallPath
	Body *KeyBody
}

type callEndAnswer struct {
	Call *ubl.CallEnd `json:"call"`
}

func (a *API) endCall(ctx context.Context, in *endCallInput) (any, error) {
	end, err := ubl.Ask[*ubl.CallEnd](ctx, a.Asker, room(ctx, in.RoomID), ubl.EndRoomCall{Request: envelope.Command(ctx, keyIn(in.Body)), CallID: in.CallID})
	if err != nil {
		return nil, err
	}
	return callEndAnswer{end}, nil
}

func keyIn(b *KeyBody) string {
	if b == nil {
		return ""
	}
	return b.Key
}

func (a *API) callRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/calls", id: "begin-call", asks: nothing, counts: ubl.Sends, uses: "messenger.send", tag: "messages", answers: "ubl.api.room_call.v1",
		summary: "Begin a call of voice and video in a room",
		more:    "Who may write there. Where a call is going on it answers that one. The timeline tells of the begin and of the end. Nobody is in it yet: browsers say that they are.", also: notIn}, a.beginCall)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/calls/{callId}/callers", id: "be-in-call", asks: nothing, counts: ubl.Sends, uses: "messenger.send", tag: "messages", answers: "ubl.api.in_call.v1",
		summary: "Say that a browser is in a call, or leaves it, and exchange signals with others",
		more: "Who may write there; four browsers at most. It holds for 30 seconds: a browser says so every 10. Signals are WebRTC's, up to 16 kB each, 300 in ten seconds; they wait for the browser that they are for. " +
			"Streams of the room tell as room.call, without an id, who is in the call and for whom signals wait. Nothing of it is kept, and there is no receipt.", also: notIn}, a.beInCall)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/calls/{callId}/end", id: "end-call", asks: nothing, counts: ubl.Sends, uses: "messenger.send", tag: "messages", answers: "ubl.api.call_end.v1",
		summary: "End a call", more: "Any member once nobody is in it, as the last one does who leaves; owners and moderators at any time. A call in which nobody is ends by itself within a minute.", also: notIn}, a.endCall)
}
