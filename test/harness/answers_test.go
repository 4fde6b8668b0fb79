package harness

import (
	"testing"

	"ubl"
)

// TestAnswered: an answer is what the command's comment says of it.
func TestAnswered(t *testing.T) {
	for _, at := range []struct {
		cmd    ubl.Command
		answer any
		fine   bool
	}{
		{ubl.JoinRoom{}, &ubl.Member{}, true},
		{ubl.JoinRoom{}, nil, false}, // who forgets the outcome of an act answers this
		{ubl.JoinRoom{}, (*ubl.Member)(nil), false},
		{ubl.JoinRoom{}, ubl.Member{}, false},
		{ubl.JoinRoom{}, &ubl.Room{}, false},
		{ubl.Authorize{}, ubl.AgreementID("a:1"), true},
		{ubl.Authorize{}, "a:1", false},
		{ubl.ListServiceTokens{}, []ubl.ServiceToken{}, true},
		{ubl.OfferLink{}, nil, true},
		{ubl.RevokeTokens{}, 3, true},
		{ubl.RevokeTokens{}, nil, false},
	} {
		if err := Answered(at.cmd, at.answer); (err == nil) != at.fine {
			t.Errorf("%T answered with a %T: %v", at.cmd, at.answer, err)
		}
	}
}
