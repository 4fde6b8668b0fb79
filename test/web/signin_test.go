package web

import "testing"

// TestSignInByLink: the link that serve prints leads into the app, once.
func TestSignInByLink(t *testing.T) {
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			s := oneNode(t)
			link := s.link()
			p := newPerson(t, s, v, "Ana")
			p.visit("/")
			p.arrives("/ui/")
			p.sees("Sign in to UBL")
			p.shot("sign-in")
			p.follow(link, "Sign in")
			p.lacks("heading", "Sign in to UBL")
			p.find("navigation", "UBL")

			other := newPerson(t, s, v, "Eve")
			other.watch.expect(`^/signin/.* is answered 404`)
			other.visit(link)
			other.sees("not valid")
		})
	}
}
