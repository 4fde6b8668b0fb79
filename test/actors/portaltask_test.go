package actors_test

import (
	"testing"
	"time"

	"ubl"
)

// TestTask: a task can be read by who began it and by nobody else, while it runs and until its
// time is over; its answer comes with its effect.
func TestTask(t *testing.T) {
	p := openFiles(t)
	begin := p.call(p.bob)
	begin.KeepMS = time.Hour.Milliseconds()
	n := ask[*ubl.CallTicket](p, begin).N
	read := func() *ubl.Task { t.Helper(); return ask[*ubl.Task](p, ubl.ReadTask{Who: p.bob, N: n}) }
	if got := read(); got.Status != ubl.TaskWorking || got.KeepMS != begin.KeepMS {
		t.Errorf("the task is %+v", got)
	}
	for _, cmd := range []ubl.Command{
		ubl.ReadTask{Who: p.ana, N: n}, ubl.ReplyCall{Who: p.ana, N: n, Question: 1, Reply: []byte("{}")},
		ubl.AskCaller{Who: p.ana, N: n}, ubl.CancelCall{Request: p.Request(p.ana), N: n}, ubl.ReadTask{Who: p.bob, N: n + 1},
	} {
		p.refuse(ubl.CodeNotFound, cmd)
	}
	ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: n, Kept: []byte("sealed"), DurationMS: 5})
	if got := read(); got.Status != ubl.TaskCompleted || string(got.Answer) != "sealed" {
		t.Errorf("the task is %+v", got)
	}
	p.refuse(ubl.CodeConflict, ubl.CancelCall{Request: p.Request(p.bob), N: n})
	p.refuse(ubl.CodeNotFound, ubl.ReadTask{Who: p.ana, N: n})
	if l := ask[[]*ubl.Task](p, ubl.ListTasks{Who: p.ana}); len(l) != 0 {
		t.Errorf("another is shown %+v", l)
	}
	p.Clock.Add(time.Hour)
	p.refuse(ubl.CodeNotFound, ubl.ReadTask{Who: p.bob, N: n})
	p.VerifyLedger(p.bob.TenantID)
}

// TestTaskIsCancelled: the effect of a task that its caller cancels is on record at once, and
// stays what it is whatever the node says that made the call.
func TestTaskIsCancelled(t *testing.T) {
	p := openFiles(t)
	begin := p.call(p.bob)
	begin.KeepMS = time.Hour.Milliseconds()
	n := ask[*ubl.CallTicket](p, begin).N
	if got := ask[*ubl.Mail](p, ubl.AskCaller{Who: p.bob, N: n}); got.Over {
		t.Error("the call is over before it is cancelled")
	}
	ask[*ubl.Task](p, ubl.CancelCall{Request: p.Request(p.bob), N: n})
	if got := ask[*ubl.Mail](p, ubl.AskCaller{Who: p.bob, N: n}); !got.Over {
		t.Error("the node doesn't hear that its call is cancelled")
	}
	row := ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: n, Kept: []byte("sealed")})
	got := ask[*ubl.Task](p, ubl.ReadTask{Who: p.bob, N: n})
	if row.Code != ubl.CodeCancelled || got.Status != ubl.TaskCancelled || got.Answer != nil {
		t.Errorf("the call ended as %+v, the task as %+v", row, got)
	}
	p.VerifyLedger(p.bob.TenantID)
}

// TestQuestion: a call asks its caller one thing at a time, and each is answered once.
func TestQuestion(t *testing.T) {
	p := openFiles(t)
	n := ask[*ubl.CallTicket](p, p.call(p.bob)).N
	put := func(number int) *ubl.Mail {
		t.Helper()
		return ask[*ubl.Mail](p, ubl.AskCaller{Who: p.bob, N: n, Question: &ubl.Question{N: number, Kind: ubl.QuestionForm, Params: []byte(`{}`)}})
	}
	reply := func(number int) ubl.ReplyCall {
		return ubl.ReplyCall{Who: p.bob, N: n, Question: number, Reply: []byte("yes")}
	}
	p.refuse(ubl.CodeNotFound, reply(1))
	if m := put(1); m.Reply != nil {
		t.Errorf("nobody has replied, and the node hears %q", m.Reply)
	}
	if got := ask[*ubl.Task](p, ubl.ReadTask{Who: p.bob, N: n}); got.Status != ubl.TaskAsking || got.Question.N != 1 {
		t.Errorf("the call is %+v", got)
	}
	p.refuse(ubl.CodeNotFound, reply(2))
	p.nothing(reply(1))
	p.refuse(ubl.CodeNotFound, reply(1))
	if m := put(1); string(m.Reply) != "yes" {
		t.Errorf("the node hears %q", m.Reply)
	}
	if m := put(2); m.Reply != nil {
		t.Errorf("the next question is answered %q", m.Reply)
	}
	ask[*ubl.Mail](p, ubl.AskCaller{Who: p.bob, N: n})
	p.refuse(ubl.CodeNotFound, reply(2))
}

// TestTasksAreBounded: a user has so many, whose answers are kept included.
func TestTasksAreBounded(t *testing.T) {
	p := openFiles(t)
	for i := range ubl.MaxUserTasks {
		begin := p.call(p.bob)
		begin.KeepMS = time.Hour.Milliseconds()
		n := ask[*ubl.CallTicket](p, begin).N
		if i%2 == 0 {
			ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: n})
		}
	}
	begin := p.call(p.bob)
	begin.KeepMS = time.Hour.Milliseconds()
	p.refuse(ubl.CodeRateLimited, begin)
	ask[*ubl.CallTicket](p, p.call(p.bob)) // which is no task
}

// TestTaskOfANodeThatIsGone: who asks for a task whose node isn't heard of learns that it has
// failed, and long before its deadline; the ledger has its effect.
func TestTaskOfANodeThatIsGone(t *testing.T) {
	p := openFiles(t)
	begin := p.call(p.bob)
	begin.KeepMS, begin.Deadline = time.Hour.Milliseconds(), p.now().Add(30*time.Minute)
	n := ask[*ubl.CallTicket](p, begin).N
	read := func() string { t.Helper(); return ask[*ubl.Task](p, ubl.ReadTask{Who: p.bob, N: n}).Status }
	for range 5 { // it is heard of
		p.Clock.Add(50 * time.Second)
		ask[*ubl.Mail](p, ubl.AskCaller{Who: p.bob, N: n})
		if got := read(); got != ubl.TaskWorking {
			t.Fatalf("the task is %s", got)
		}
	}
	p.Clock.Add(61 * time.Second)
	if got := read(); got != ubl.TaskFailed {
		t.Errorf("a minute after its node was heard of last, the task is %s", got)
	}
	if row := p.log(p.bob, false)[0]; row.Status != "error" || row.Code != ubl.CodeUnavailable {
		t.Errorf("it is on record as %+v", row)
	}
	if got := read(); got != ubl.TaskFailed {
		t.Errorf("later it is %s", got)
	}
	if got := ask[*ubl.Mail](p, ubl.AskCaller{Who: p.bob, N: n}); !got.Over {
		t.Error("a node that comes back goes on")
	}
	p.VerifyLedger(p.bob.TenantID)
}
