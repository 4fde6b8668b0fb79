package auth

import (
	"net/http"
	"strings"
	"testing"

	"ubl"
)

// Which of several credentials counts.
func TestCredentialOf(t *testing.T) {
	w := newWorld(t)
	ann, _ := w.token(t, "ann@corp.example")
	bob, _ := w.token(t, "bob@corp.example")
	clientID, secret := w.serviceToken(t, "t:corp.example")
	one := ServiceBearer(clientID, secret)
	service := []string{"CF-Access-Client-Id", clientID, "CF-Access-Client-Secret", secret}
	const none, annIs, bobIs, botIs = "", "ann@corp.example", "bob@corp.example", "bot"
	for _, tt := range []struct {
		name    string
		headers []string
		who     string
	}{
		{"nothing", nil, none},
		{"bearer", bearer(ann), annIs},
		{"bearer in small letters", []string{"Authorization", "bearer " + ann}, annIs},
		{"bearer after two blanks", []string{"Authorization", "Bearer  " + ann}, annIs},
		{"assertion", []string{"Cf-Access-Jwt-Assertion", bob}, bobIs},
		{"bearer beats assertion", append(bearer(ann), "Cf-Access-Jwt-Assertion", bob), annIs},
		{"a bad bearer does not fall back", append(bearer("x.y.z"), "Cf-Access-Jwt-Assertion", bob), none},
		{"an empty bearer does not fall back", []string{"Authorization", "", "Cf-Access-Jwt-Assertion", bob}, none},
		{"service", service, botIs},
		{"service beats assertion", append([]string{"Cf-Access-Jwt-Assertion", bob}, service...), botIs},
		{"service as a bearer", bearer(one), botIs},
		{"service as a bearer beats assertion", append(bearer(one), "Cf-Access-Jwt-Assertion", bob), botIs},
		{"service both ways at once", append(bearer(one), service...), none},
		{"service as an assertion", []string{"Cf-Access-Jwt-Assertion", one}, none},
		{"service without its prefix", bearer(strings.TrimPrefix(one, "ubl_")), none},
		{"service in large letters", bearer(strings.ToUpper(one)), none},
		{"service without a tenant", bearer(strings.TrimSuffix(one, "corp.example")), none},
		{"service of another tenant", bearer(strings.TrimSuffix(one, "corp.example") + "other.example"), none},
		{"service with a tenant that is none", bearer(one + "/x"), none},
		{"service with a digit too many", bearer("ubl_0" + strings.TrimPrefix(one, "ubl_")), none},
		{"service with another secret", bearer(strings.Replace(one, "_"+secret, "_"+strings.Repeat("0", 64), 1)), none},
		{"service cut short", bearer(one[:len(one)/2]), none},
		{"only the prefix", bearer("ubl_"), none},
		{"service longer than any", bearer(one + strings.Repeat("x", maxCredential)), none},
		{"bearer with service", append(bearer(ann), service...), none},
		{"half a service does not fall back", []string{"CF-Access-Client-Id", clientID, "Cf-Access-Jwt-Assertion", bob}, none},
		{"two bearers", append(bearer(ann), bearer(bob)...), none},
		{"the same bearer twice", append(bearer(ann), bearer(ann)...), none},
		{"two assertions", []string{"Cf-Access-Jwt-Assertion", bob, "Cf-Access-Jwt-Assertion", ann}, none},
		{"two client ids", append([]string{"CF-Access-Client-Id", clientID}, service...), none},
		{"no scheme", []string{"Authorization", ann}, none},
		{"Basic", []string{"Authorization", "Basic YW5uOmFubg=="}, none},
		{"scheme without token", []string{"Authorization", "Bearer"}, none},
		{"tab for a blank", []string{"Authorization", "Bearer\t" + ann}, none},
		{"scheme in the assertion", []string{"Cf-Access-Jwt-Assertion", "Bearer " + bob}, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := w.get(tt.headers...)
			if tt.who == none {
				a.refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
				return
			}
			id := a.let(t).Identity
			if id.Email != tt.who && string(id.UserID) != "u:"+tt.who {
				t.Errorf("came in as %+v, want %s", id, tt.who)
			}
		})
	}
}

func TestChallenge(t *testing.T) {
	w := newWorld(t)
	if a := w.get(); a.challenge != "Bearer" {
		t.Errorf("without credentials: %q", a.challenge)
	}
	if a := w.get(bearer("x.y.z")...); a.challenge != `Bearer error="invalid_token"` {
		t.Errorf("with bad ones: %q", a.challenge)
	}
}

// Whatever stands in the Authorization header, the answer is the one caller it
// may be or a 401, and no tenant hears of the rest.
func FuzzAuthorization(f *testing.F) {
	w := newWorld(f)
	m := w.localMill()
	good := m.make(f, nil)
	f.Add("Bearer " + good)
	f.Add("Bearer ubl_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 64) + "_x")
	f.Add("Bearer " + unsigned(m.payload(f, nil)))
	for _, s := range []string{"", "Bearer", "Bearer ", "Bearer ..", "Bearer a.b.c", "Basic x", "bearer\x00", "Bearer {}", "Bearer e30.e30.e30", strings.Repeat("Bearer ", 2000)} {
		f.Add(s)
	}
	// The signature's last digit carries spare bits, so more than one spelling of
	// the good token may hold; its signed part has only one.
	signed := good[:strings.LastIndexByte(good, '.')]
	f.Fuzz(func(t *testing.T, header string) {
		a := w.get("Authorization", header)
		if a.caller != nil && strings.Contains(header, signed) {
			w.tenants.set(func(f *tenants) { f.log = nil })
			return
		}
		a.refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
		if c, err := bearerOf(http.Header{"Authorization": {header}}); err == nil && c.clientID != "" {
			w.tenants.set(func(f *tenants) { f.log = nil }) // only its tenant knows
			return
		}
		w.tenants.silent(t)
	})
}
