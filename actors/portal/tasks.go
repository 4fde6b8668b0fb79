package portal

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// forgetsKept is how many outdated answers go with one call that begins.
const forgetsKept = 20

// cancelledKept is how long it can be seen of a call that was no task that it was cancelled.
const cancelledKept = 10 * time.Minute

// silence is how long nothing is heard of a call before whoever asks for it is told that its node
// has gone: the node that makes it asks for its mail each second.
const silence = time.Minute

func taskKey(n int64) []byte {
	if n < 0 {
		return []byte("pu")
	}
	return append([]byte("pt"), numbered(0, n)[2:]...)
}

// mail is between a call and its caller.
type mail struct {
	question *ubl.Question
	asked    ubl.Time
	reply    []byte
}

// keep takes a call in that has ended. Its answer stays in the store.
func (s *State) keep(k kept) {
	k.Answer = nil
	s.Kept[k.Call.N] = &k
}

// keeping is what is kept of a call that ends, nil for nothing.
func keeping(o *open, row ubl.Call, c ubl.EndCall) *kept {
	ended := row.At + ubl.Time(row.DurationMS)
	k := &kept{form: form{version}, Call: row, Ended: ended, Until: row.At + ubl.Time(o.KeepMS), KeepMS: o.KeepMS, Answer: c.Kept}
	switch {
	case o.KeepMS > 0:
		return k
	case c.KeepMS > 0 && c.Kept != nil:
		k.Until = ended + ubl.Time(c.KeepMS)
		return k
	}
	return nil
}

// outdated are answers whose time is over.
func (s *State) outdated(now ubl.Time) (out []int64) {
	for _, n := range slices.Sorted(maps.Keys(s.Kept)) {
		if s.Kept[n].Until <= now && len(out) < forgetsKept {
			out = append(out, n)
		}
	}
	return out
}

// tasksOf counts the tasks of a user, "" for all: those under way and those kept.
func (s *State) tasksOf(user ubl.UserID, now ubl.Time) (n int) {
	for _, o := range s.Open {
		if o.KeepMS > 0 && (user == "" || o.Call.UserID == user) {
			n++
		}
	}
	for _, k := range s.Kept {
		if k.Until > now && (user == "" || k.Call.UserID == user) {
			n++
		}
	}
	return n
}

// forward writes what is kept and what no longer is, and forgets the mail of a call that ends.
func (x *Portal) forward(c *step, a *actors.Append) {
	if c.ends != nil {
		delete(x.mail, c.ends.Call.N)
		delete(x.heard, c.ends.Call.N)
	}
	if k := c.keeps; k != nil {
		a.Records = append(a.Records, actors.Record{Key: taskKey(k.Call.N), Value: encode(k)})
	}
	for _, n := range c.forgets {
		a.Records = append(a.Records, actors.Record{Key: taskKey(n)})
	}
}

// open is a call under way of who began it.
func (s *State) openOf(who ubl.Identity, n int64) (*open, error) {
	o := s.Open[n]
	if o == nil {
		return nil, errNoCall()
	}
	return o, s.mayEnd(who, o.Call)
}

func (x *Portal) askCaller(t *actors.Turn, c ubl.AskCaller) {
	if x.State.Open[c.N] == nil && x.State.member(c.Who) == nil {
		t.Reply(&ubl.Mail{Over: true})
		return
	}
	if _, err := x.State.openOf(c.Who, c.N); err != nil {
		t.Fail(err)
		return
	}
	x.heard[c.N] = t.Now()
	q := c.Question
	if q == nil {
		delete(x.mail, c.N)
		t.Reply(&ubl.Mail{})
		return
	}
	if len(q.Params) > ubl.MaxQuestion || q.N < 1 {
		t.Fail(bad("question", "it is too large, or has no number"))
		return
	}
	m := x.mail[c.N]
	if m == nil || m.question.N != q.N {
		m = &mail{question: q, asked: t.Now()}
		x.mail[c.N] = m
	}
	t.Reply(&ubl.Mail{Reply: m.reply})
}

func (x *Portal) replyCall(t *actors.Turn, c ubl.ReplyCall) {
	_, err := x.State.openOf(c.Who, c.N)
	m := x.mail[c.N]
	switch {
	case err != nil:
	case m == nil || m.question.N != c.Question || m.reply != nil:
		err = ubl.Errorf(ubl.CodeNotFound, "the call doesn't ask this, or not any more")
	case len(c.Reply) == 0 || len(c.Reply) > ubl.MaxReply:
		err = ubl.Errorf(ubl.CodeTooLarge, "a reply has 1 to %d bytes", ubl.MaxReply)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	m.reply = c.Reply
	t.Reply(nil)
}

func (x *Portal) cancelCall(t *actors.Turn, c ubl.CancelCall) {
	o, err := x.State.openOf(c.Who, c.N)
	if k := x.State.Kept[c.N]; o == nil && k != nil && x.State.mayEnd(c.Who, k.Call) == nil {
		err = ubl.Errorf(ubl.CodeConflict, "the call has ended")
	}
	if err != nil {
		t.Fail(err)
		return
	}
	p := closing(o, ubl.EndCall{
		Code: ubl.CodeCancelled, Message: "its caller cancelled it", DurationMS: int64(t.Now() - o.Call.At),
		KeepMS: cancelledKept.Milliseconds(), Kept: []byte{},
	})
	row, ended := p.Event.call.row, p.Event.call.keeps.task()
	x.Pass(t, x.Following(row.Did, c.Request, &p), nil)
	t.Later(func() (any, error) { return ended, nil })
}

func (x *Portal) readTask(t *actors.Turn, c ubl.ReadTask) {
	if o, err := x.State.openOf(c.Who, c.N); err == nil {
		if x.silent(o, t.Now()) {
			x.abandon(t, c, o)
			return
		}
		t.Reply(x.running(o))
		return
	}
	k := x.State.Kept[c.N]
	if k == nil || k.Until <= t.Now() || x.State.mayEnd(c.Who, k.Call) != nil {
		t.Fail(errNoCall())
		return
	}
	ctx, found := t.Context(), k.task()
	t.Later(func() (any, error) {
		err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
			return actors.EachEvent(snap, taskKey(c.N), taskKey(c.N+1), version, func(k kept) { found.Answer = k.Answer })
		})
		return found, err
	})
}

// silent reports whether nothing was heard for long of a call whose node has to be heard of: of a
// task always, of others once it was. A Portal that has moved begins to wait with the first question.
func (x *Portal) silent(o *open, now ubl.Time) bool {
	last, heard := x.heard[o.Call.N]
	if !heard {
		if o.KeepMS > 0 {
			x.heard[o.Call.N] = now
		}
		return false
	}
	return now > last.Add(silence)
}

// abandon ends a call whose node has gone, for who asks for it: the sweep would, but far later.
func (x *Portal) abandon(t *actors.Turn, c ubl.ReadTask, o *open) {
	p := orphaned(o, t.Now())
	x.Pass(t, x.Following(o.Call.Did, ubl.Request{Who: c.Who, ID: o.Call.RequestID, Key: o.Call.RequestID}, &p), nil)
	k := p.Event.call.keeps
	t.Later(func() (any, error) {
		if k == nil {
			return nil, errNoCall()
		}
		return k.task(), nil
	})
}

func (x *Portal) listTasks(who ubl.Identity, now ubl.Time) []*ubl.Task {
	list := []*ubl.Task{}
	for _, o := range x.State.Open {
		if o.KeepMS > 0 && o.Call.UserID == who.UserID {
			list = append(list, x.running(o))
		}
	}
	for _, k := range x.State.Kept {
		if k.KeepMS > 0 && k.Until > now && k.Call.UserID == who.UserID {
			list = append(list, k.task())
		}
	}
	slices.SortFunc(list, func(a, b *ubl.Task) int { return cmp.Compare(a.N, b.N) })
	return list
}

// running is a call under way as its caller sees it.
func (x *Portal) running(o *open) *ubl.Task {
	v := &ubl.Task{
		N: o.Call.N, Capability: o.Call.Capability, Status: ubl.TaskWorking, CreatedAt: o.Call.At, UpdatedAt: o.Call.At, KeepMS: o.KeepMS,
	}
	if m := x.mail[o.Call.N]; m != nil && m.reply == nil {
		v.Status, v.Question, v.UpdatedAt = ubl.TaskAsking, m.question, m.asked
	}
	return v
}

// task is a call that has ended as its caller sees it, but for its answer. What a tool itself
// calls a failure is an answer like others.
func (k *kept) task() *ubl.Task {
	v := &ubl.Task{
		N: k.Call.N, Capability: k.Call.Capability, Status: ubl.TaskFailed, Code: k.Call.Code, CreatedAt: k.Call.At, UpdatedAt: k.Ended, KeepMS: k.KeepMS,
	}
	switch k.Call.Code {
	case "", ubl.CodeConflict:
		v.Status = ubl.TaskCompleted
	case ubl.CodeCancelled:
		v.Status = ubl.TaskCancelled
	}
	return v
}
