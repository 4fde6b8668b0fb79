package web

import "testing"

// TestDraftOutlivesReload: what one has written is there after a reload that follows
// the last key at once, before anything had the time to be kept.
func TestDraftOutlivesReload(t *testing.T) {
	onBothScreens(t, func(t *testing.T, v view) {
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
