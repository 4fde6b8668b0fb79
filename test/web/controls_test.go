package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// control is something on the page, as the accessibility tree has it.
type control struct {
	role, name string
	node       cdp.BackendNodeID
}

// glance is how long one look at the page may take. Chromium never answers a question
// about the accessibility tree of a page that is left meanwhile: one has to look again.
const glance = 2 * time.Second

// controls are those of a role that a person can get at, in the order of the page. An
// error means that the page is changing.
func (p *person) controls(role string) ([]control, error) {
	ctx, end := context.WithTimeout(p.ctx, glance)
	defer end()
	root, err := chromedp.Call(ctx, dom.GetDocument, dom.GetDocumentParams{Depth: new(int64(0))})
	if err != nil {
		return nil, err
	}
	tree, err := chromedp.Call(ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{BackendNodeID: root.Root.BackendNodeID, Role: role})
	if err != nil {
		return nil, err
	}
	var found []control
	for _, n := range tree.Nodes {
		if !n.Ignored {
			found = append(found, control{role, value(n.Name), n.BackendDOMNodeID})
		}
	}
	return found, nil
}

// value is a string of the accessibility tree.
func value(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var text string
	if json.Unmarshal(v.Value, &text) != nil {
		return string(v.Value)
	}
	return text
}

// find waits for the control of a role and name. A name that ends with "…" is the
// beginning of one.
func (p *person) find(role, name string) control {
	p.t.Helper()
	var found control
	p.until(fmt.Sprintf("a %s named %q", role, name), func() (ok bool) { found, ok = p.look(role, name); return ok })
	return found
}

// look is find without waiting.
func (p *person) look(role, name string) (control, bool) {
	all, err := p.controls(role)
	if err != nil {
		return control{}, false
	}
	for _, c := range all {
		if begin, part := strings.CutSuffix(name, "…"); c.name == name || part && strings.HasPrefix(c.name, begin) {
			return c, true
		}
	}
	return control{}, false
}

// has tells whether there is a control now.
func (p *person) has(role, name string) bool {
	_, ok := p.look(role, name)
	return ok
}

// lacks waits until a control is gone.
func (p *person) lacks(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("no %s named %q", role, name), func() bool { return !p.has(role, name) })
}

// spot is where a control is, and what a press there would meet.
type spot struct {
	X, Y     float64
	Met      bool // the control itself, or what is in it
	Disabled bool
	Moves    bool
	Over     string // what is in the way otherwise
}

// spotOf looks twice, with frames before: what came with the screen may move it yet. The next press
// is kept from what it isn't for, see [person.missed].
const spotOf = `async function() {
	const el = this.nodeType === 1 ? this : this.parentElement;
	const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	el.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
	await frames();
	const before = el.getBoundingClientRect();
	await frames();
	const box = el.getBoundingClientRect();
	const x = box.x + box.width / 2, y = box.y + box.height / 2;
	const over = document.elementFromPoint(x, y);
	const meets = (other) => !!other && (el.contains(other) || other.contains(el) || el.labels?.length > 0 && [...el.labels].some((l) => l.contains(other)));
	const met = meets(over);
	window.wanted = { meets };
	const watch = (e) => {
		if (!window.wanted || !e.isTrusted) return;
		if (e.type === 'pointerdown') window.wanted.met = window.wanted.meets(e.target);
		if (window.wanted.met !== false) return;
		e.preventDefault();
		e.stopImmediatePropagation();
	};
	const kinds = ['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'touchstart', 'touchend', 'click'];
	if (!window.watched) for (const kind of kinds) window.addEventListener(kind, watch, { capture: true, passive: false });
	window.watched = true;
	const moves = ['x', 'y', 'width', 'height'].some((k) => box[k] !== before[k]);
	return { X: x, Y: y, Met: met, Disabled: el.disabled === true, Moves: moves, Over: over ? over.outerHTML.slice(0, 120) : 'nothing' };
}`

// on calls a function on a control, as its this, and waits for its promise.
func on[T any](p *person, c control, function string, args ...any) (T, error) {
	var zero T
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	object, err := chromedp.Call(ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: c.node})
	if err != nil {
		return zero, err
	}
	id := object.Object.ObjectID
	return chromedp.Run(ctx, chromedp.CallFunctionOn[T](function, func(f *runtime.CallFunctionOnParams) { f.ObjectID, f.AwaitPromise = id, new(true) }, args...))
}

// reach is the spot of a control that can be pressed and rests there.
func (p *person) reach(c control) (spot, error) {
	s, err := on[spot](p, c, spotOf)
	switch {
	case err != nil:
	case s.Disabled:
		err = errors.New("it is disabled")
	case !s.Met:
		err = fmt.Errorf("in the way is %s", s.Over)
	case s.Moves:
		err = errors.New("it moves")
	}
	return s, err
}

// leads presses a control that leads to another page, and waits until that is there. Chromium's
// tab may crash where it is asked for the accessibility tree of a page that is just being left.
func (p *person) leads(role, name string) {
	p.t.Helper()
	left := eval[float64](p, `performance.timeOrigin`)
	p.press(role, name)
	p.until("another page is there", func() bool {
		return eval[bool](p, fmt.Sprintf(`performance.timeOrigin !== %v && document.readyState === 'complete'`, left))
	})
}

// missed reports whether the newest press would have met something else than what it was for, which
// had moved away under it, and ends the watch. A page that has been left was met.
func (p *person) missed() bool {
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	missed, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`(() => { const was = window.wanted; window.wanted = undefined; return was?.met === false; })()`))
	return err == nil && missed
}

// press presses a control, with a finger where there is one.
func (p *person) press(role, name string) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		c := p.find(role, name)
		s, err := p.reach(c)
		if err == nil {
			if p.point(s.X, s.Y); !p.missed() {
				return
			}
			err = errors.New("it moved away")
		}
		if time.Now().After(deadline) {
			p.fail("can't press the %s %q: %v", role, name, err)
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// pointsAt moves the mouse over a control, for what shows only then.
func (p *person) pointsAt(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("the mouse is over the %s %q", role, name), func() bool {
		s, err := p.reach(p.find(role, name))
		if err != nil {
			return false
		}
		call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: s.X, Y: s.Y})
		return true
	})
}

// holds does what a finger that stays on a control has the browser do.
func (p *person) holds(role, name string) {
	p.t.Helper()
	_, err := on[bool](p, p.find(role, name), `function() { return this.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true })); }`)
	must(p.t, err)
}

// point touches or clicks a place.
func (p *person) point(x, y float64) {
	p.t.Helper()
	if p.view.touch {
		p.do("couldn't tap", chromedp.TapXY(x, y))
		return
	}
	p.do("couldn't click", chromedp.MouseClickXY(x, y))
}

// fill puts a text into a field in place of what is there.
func (p *person) fill(name, text string) {
	p.t.Helper()
	p.fillRole("textbox", name, text)
}

// fillRole is fill for a field with a role of its own, such as a searchbox.
func (p *person) fillRole(role, name, text string) {
	p.t.Helper()
	p.focus(role, name)
	p.until("the field "+name+" is empty", func() bool {
		c, ok := p.look(role, name)
		if !ok {
			return false
		}
		left, err := on[string](p, c, `function() { this.select?.(); return this.value; }`)
		if err != nil || left == "" {
			return err == nil
		}
		p.key(kb.Delete)
		return false
	})
	p.write(text)
}

// focus moves the focus to a control.
func (p *person) focus(role, name string) {
	p.t.Helper()
	p.until(fmt.Sprintf("the %s %q takes the focus", role, name), func() bool {
		c, ok := p.look(role, name)
		if !ok {
			return false
		}
		has, err := on[bool](p, c, `function() { this.focus(); return document.activeElement === this; }`)
		return err == nil && has
	})
}

// write puts a text in where the focus is, as an input method does.
func (p *person) write(text string) {
	p.t.Helper()
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// key presses keys one after another, where the focus is. Each goes down with the
// character that it makes, so that a page that takes the one doesn't get the other.
func (p *person) key(keys string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		down, up := *events[0], *events[len(events)-1]
		for _, m := range modifiers {
			down.Modifiers |= int64(m)
			up.Modifiers |= int64(m)
		}
		if len(events) == 3 && down.Modifiers&^int64(kb.ModifierShift) == 0 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		call(p, input.DispatchKeyEvent, down)
		call(p, input.DispatchKeyEvent, up)
	}
}

// focused is role and name of what has the focus, as "button Send".
func (p *person) focused() string {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, glance)
	defer end()
	object, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.activeElement"})
	if err != nil || object.Result.ObjectID == "" {
		return ""
	}
	tree, err := chromedp.Call(ctx, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{
		ObjectID: object.Result.ObjectID, FetchRelatives: new(false),
	})
	if err != nil || len(tree.Nodes) == 0 {
		return ""
	}
	return strings.TrimSpace(value(tree.Nodes[0].Role) + " " + value(tree.Nodes[0].Name))
}
