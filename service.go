package ubl

import "strings"

// LocalIssuer vouches for the identities of tokens made with the nodes' own key.
const LocalIssuer = "urn:ubl:local"

// servicePrefix keeps the subjects of services apart from those of people, which
// are addresses and have no colon.
const servicePrefix = "service:"

// LocalSubject is the subject under which [LocalIssuer] knows a person or, where
// service isn't "", a service: it names the maker too, so that two makers' services
// of one name are two.
func LocalSubject(service, email string) string {
	if service == "" {
		return email
	}
	return servicePrefix + service + ":" + email
}

// LocalService is the name and the maker's address in such a subject; ok is false
// for a person's.
func LocalService(subject string) (name, maker string, ok bool) {
	rest, ok := strings.CutPrefix(subject, servicePrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}
