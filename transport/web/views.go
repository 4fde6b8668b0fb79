package web

// View is the page by which an MCP client shows an answer ("room", "receipt"), "" for none. It
// stands by itself: no file of the app belongs to it, and none of the server's paths leads to it.
func View(name string) string {
	if name != "room" && name != "receipt" {
		return ""
	}
	page, err := dist.ReadFile("dist/views/" + name + ".html")
	if err != nil { // an app that was built in part
		return ""
	}
	return string(page)
}
