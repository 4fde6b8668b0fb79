package web

import "testing"

// TestEditorPreview: one sees what a document will look like while one writes it: beside the text on a
// desktop, in its place on a phone, where nothing that was written is lost by looking.
func TestEditorPreview(t *testing.T) {
	needAxe(t)
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.visit("/ui/workspaces/w:general/new")
		p.fill("Title", "Tides")
		p.fill("Text", "## High water\n\n- [x] 06:12\n- [ ] 18:40")
		p.misses("bytes")
		if v.touch {
			p.lacks("heading", "High water")
			p.press("radio", "Preview")
			p.lacks("textbox", "Text")
		}
		p.find("heading", "High water")
		p.find("checkbox", "06:12")
		p.examine("editor-preview")
		if v.touch {
			p.press("radio", "Text")
		}
		p.fill("Text", "## Low water")
		if v.touch {
			p.press("radio", "Preview")
		}
		p.find("heading", "Low water")
		p.lacks("heading", "High water")
		p.press("button", "Save")
		p.sees("Version 1", "Low water")
	})
}
