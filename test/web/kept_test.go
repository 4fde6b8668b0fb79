package web

import "testing"

// TestDraftOutlivesReload: what one has written is there after a reload that follows
// the last key at once, before anything had the time to be kept.
func TestDraftOutlivesReload(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		p := newcomer(t, oneNode(t), v)
		p.enter("general")
		for _, text := range []string{"half a thought", "another half", "a third half"} {
			p.fill("Message to general", text)
			p.reload()
			p.find("log", "Messages in general")
			p.until("the draft is there", func() bool { return p.draft() == text })
		}
		// In the very task of the last key, for which no person is fast enough.
		eval[bool](p, `(() => {
			const field = document.querySelector('textarea');
			field.value = 'a whole thought';
			field.dispatchEvent(new InputEvent('input', { bubbles: true }));
			queueMicrotask(() => setTimeout(() => location.reload()));
			return window.old = true;
		})()`)
		p.until("the page is another", func() bool { return !eval[bool](p, `window.old === true`) })
		p.find("log", "Messages in general")
		p.until("the draft is there", func() bool { return p.draft() == "a whole thought" })
	})
}

// TestReadWithoutNetwork: a document that one has opened, the lists that lead there and
// the members of a room can be read without a network, in a page that is loaded without
// one too, and are new again with it.
func TestReadWithoutNetwork(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		furnish(t, s)
		p := newcomer(t, s, v)
		p.installed()
		readMembers := func() {
			p.visit("/ui/rooms/r:general/members")
			p.sees("bo@harbour.example")
		}
		readPlan := func() {
			p.visit("/ui/workspaces")
			p.press("link", "general…")
			p.press("link", "Launch plan…")
			p.sees("when the tide is in")
		}
		readMembers()
		readPlan()
		p.offline()
		readMembers()
		p.sees("The server can’t be reached")
		p.shot("kept-members")
		readPlan()
		p.sees("The server can’t be reached")
		p.shot("kept-document")
		p.online()
		p.misses("The server can’t be reached")
		p.sees("when the tide is in")
	})
}
