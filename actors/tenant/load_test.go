package tenant

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
)

// TestReplayIsLinear: twice the members take about twice the memory to replay, not
// four times.
func TestReplayIsLinear(t *testing.T) {
	once, twice := replaying(2000), replaying(4000)
	if twice > 3*once {
		t.Errorf("2,000 members take %d bytes, 4,000 take %d", once, twice)
	}
}

func joined(n int64) event {
	return event{Stamp: actors.Stamp{N: n, Did: ubl.DidTenantJoin}, Member: &ubl.Member{UserID: ubl.UserID(fmt.Sprint("u:", n)), Role: ubl.RoleMember}}
}

func admitted(n int64) event {
	at := ubl.Time(n) * ubl.Time(time.Second/time.Millisecond)
	return event{Stamp: actors.Stamp{N: n, Did: ubl.DidPlatformTokenCreate, At: at}, Token: &platform{
		PlatformToken: ubl.PlatformToken{JTI: fmt.Sprint(n), ExpiresAt: at.Add(time.Hour)},
	}}
}

// replaying is how many bytes it allocates to found a tenant that n more join.
func replaying(n int64) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var s State
	s.apply(event{Stamp: actors.Stamp{N: 1, Did: ubl.DidTenantCreate}, Tenant: &ubl.Tenant{}, Member: &ubl.Member{UserID: "u:0", Role: ubl.RoleOwner}})
	for i := range n {
		s.apply(joined(i + 2))
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestExpiredTokensAreForgotten: tenant 0 keeps at most about twice the tokens
// that can still be used, however many there were.
func TestExpiredTokensAreForgotten(t *testing.T) {
	var s State
	s.apply(event{Stamp: actors.Stamp{N: 1, Did: ubl.DidTenantCreate}, Tenant: &ubl.Tenant{}, Member: &ubl.Member{UserID: "u:0", Role: ubl.RoleOwner}})
	most := 0
	for n := range int64(50_000) {
		s.apply(admitted(n + 2))
		most = max(most, len(s.Tokens))
	}
	if live := int(time.Hour / time.Second); most > 2*live+2 || most < live {
		t.Errorf("of %d tokens that could be used at a time, %d were kept", live, most)
	}
}

// TestSessionsAreKeptForTheirNextCookie: one may be out when the one before has
// expired, so that the session must not be forgotten with it.
func TestSessionsAreKeptForTheirNextCookie(t *testing.T) {
	var s State
	s.apply(event{Stamp: actors.Stamp{N: 1, Did: ubl.DidTenantCreate}, Tenant: &ubl.Tenant{}, Member: &ubl.Member{UserID: "u:0", Role: ubl.RoleOwner}})
	session := admitted(2)
	session.Token.JTI, session.Token.Kind = "session", ubl.TokenSession
	s.apply(session)
	hours := func(n int64) {
		for last := s.Events + n*3600; s.Events < last; {
			s.apply(admitted(s.Events + 1))
		}
	}
	hours(13)
	if _, ok := s.Tokens["session"]; !ok {
		t.Error("a session was forgotten twelve hours after its cookie expired")
	}
	hours(15)
	if _, ok := s.Tokens["session"]; ok {
		t.Error("a session was never forgotten")
	}
}
