package room

import (
	"encoding/json"
	"fmt"
	"testing"

	"ubl"
	"ubl/actors"
)

// TestMaxAnswers: a form that has all the answers it takes refuses one more person, and still lets
// those who have answered change theirs.
func TestMaxAnswers(t *testing.T) {
	form := &answered{
		body:    &ubl.FormBody{Text: "Coming?", Fields: []ubl.FormField{{Name: "coming", Label: "Coming", Type: ubl.FieldYesNo}}},
		answers: make(map[ubl.UserID]standing),
	}
	yes := ubl.AnswerContent(json.RawMessage(`{"coming":true}`))
	for n := range ubl.MaxAnswers {
		who := ubl.UserID(fmt.Sprintf("u:%d", n))
		if err := form.mayAnswer(who, yes, actors.Moment{}); err != nil {
			t.Fatalf("answer %d: %v", n+1, err)
		}
		form.answers[who] = standing{seq: int64(n + 1)}
	}
	if err := form.mayAnswer("u:late", yes, actors.Moment{}); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("one more than all: %v", err)
	}
	if err := form.mayAnswer("u:0", yes, actors.Moment{}); err != nil {
		t.Errorf("somebody's newer answer: %v", err)
	}
}
