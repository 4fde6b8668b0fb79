package web

import (
	"slices"
	"testing"
)

// TestUnsaved: what is written in a document and not saved is found again when the app
// was closed meanwhile, until it is saved or thrown away.
func TestUnsaved(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		// reopen closes the page once the browser has kept what was written last.
		reopen := func(to string, written ...string) {
			p.t.Helper()
			p.until("all is kept", func() bool { return slices.Equal(p.unsaved(), written) })
			p.visit(to)
		}
		holds := func(text string) {
			p.t.Helper()
			p.until("the field holds "+text, func() bool { return eval[string](p, `document.querySelector('textarea')?.value ?? ''`) == text })
		}
		p.visit("/ui/workspaces/w:general/new")
		p.fill("Title", "Plan")
		p.fill("Text", "half a thought")
		reopen("/ui/workspaces/w:general/new", "half a thought")
		p.sees("You wrote this before")
		holds("half a thought")
		p.press("button", "Save")
		p.sees("Plan", "half a thought", "Version 1")
		address := p.at()

		p.press("button", "Edit")
		p.fill("Text", "a whole thought")
		reopen(address, "a whole thought")
		p.sees("half a thought")
		p.press("button", "Edit")
		p.sees("You wrote this before")
		holds("a whole thought")
		p.shot("unsaved")
		p.press("button", "Cancel")
		p.press("button", "Discard")
		p.sees("half a thought", "Version 1")
		reopen(address)
		p.press("button", "Edit")
		holds("half a thought")
		p.misses("You wrote this before")
	})
}

// unsaved are the texts that the browser keeps of documents.
func (p *person) unsaved() []string {
	p.t.Helper()
	return eval[[]string](p, `indexedDB.databases().then(([of]) => new Promise((resolve, reject) => {
		const opening = indexedDB.open(of.name);
		opening.onerror = () => reject(opening.error);
		opening.onsuccess = () => {
			const all = opening.result.transaction('unsaved').objectStore('unsaved').getAll();
			all.onsuccess = () => {
				opening.result.close();
				resolve(all.result.map((text) => text.content));
			};
		};
	}))`)
}
