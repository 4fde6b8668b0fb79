package web

import (
	"testing"

	permissions "github.com/chromedp/cdproto/browser"
)

// TestCall: ana begins a call and bob joins it from its line. Each gets the other's picture. Bob mutes
// himself and leaves, ana leaves, and the call has ended: two entries tell of it, and both verify.
func TestCall(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	ana, bob := newcomer(t, s, desktop), guest(t, s, phone, "bob@elsewhere.example")
	for _, who := range []*person{ana, bob} {
		who.allows("camera", permissions.PermissionSettingGranted)
		who.allows("microphone", permissions.PermissionSettingGranted)
		who.enter("general")
	}
	pictures := func(who *person, n int) {
		t.Helper()
		who.until("pictures to move", func() bool {
			return eval[int](who, `[...document.querySelectorAll('.call video')].filter((v) => v.videoWidth > 0 && v.currentTime > 0).length`) == n
		})
	}
	ana.press("button", "Begin a call")
	ana.sees("began a call", "Nobody else is in the call yet.")
	pictures(ana, 1)
	bob.sees("began a call")
	bob.press("button", "Join the call")
	pictures(bob, 2)
	pictures(ana, 2)
	ana.examine("call")
	bob.examine("call")
	bob.press("button", "Mute")
	if !eval[bool](bob, `document.querySelector('.call [aria-pressed=true]')?.textContent === 'Mute'`) {
		t.Error("bob isn't shown to be mute")
	}
	bob.press("button", "Leave")
	pictures(ana, 1)
	ana.press("button", "Leave")
	bob.sees("The call took 1 min")
	bob.lacks("button", "Join the call")
	if n := eval[int](ana, `document.querySelectorAll('.call').length`); n != 0 {
		t.Error("ana is still shown the call")
	}

	var page struct {
		Entries []struct {
			Type string                        `json:"type"`
			Body struct{ JSON map[string]any } `json:"body"`
		} `json:"entries"`
	}
	c := s.client(owner)
	c.ask("GET", "/api/rooms/"+general+"/entries", nil, &page)
	var states []any
	for _, e := range page.Entries {
		if e.Type == "call" {
			states = append(states, e.Body.JSON["state"])
		}
	}
	ana.verifies("The chain holds")
	if len(states) != 2 || states[0] != "began" || states[1] != "ended" {
		t.Errorf("the timeline tells %v of calls", states)
	}
}
