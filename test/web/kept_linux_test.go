package web

import (
	"testing"

	"ubl/test/poll"
)

// TestDraftOutlivesReloadInWebKit: the engine of iPhones keeps what was written a moment
// before a reload as well.
func TestDraftOutlivesReloadInWebKit(t *testing.T) {
	w := newWebkit(t)
	s := oneNode(t)
	w.visit(s.link())
	w.press("Sign in")
	w.press("Skip")
	w.sees("general")
	w.visit(s.url + "/ui/rooms/r:general")
	w.write("Message to general", "half a thought")
	draft := func() (text string) {
		_ = w.try("POST", "/execute/sync", map[string]any{"script": "return window.old ? '' : document.querySelector('textarea')?.value ?? ''", "args": []any{}}, &text)
		return text
	}
	for _, text := range []string{"another half", "a whole thought"} {
		w.ask("POST", "/execute/sync", map[string]any{"script": `
			const field = document.querySelector('textarea');
			field.value = arguments[0];
			field.dispatchEvent(new InputEvent('input', { bubbles: true }));
			window.old = true;
			setTimeout(() => location.reload());`, "args": []any{text}}, nil)
		poll.Until(t, "the draft is there", func() bool { return draft() == text })
	}
}
