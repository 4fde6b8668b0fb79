package auth

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
	"ubl/transport/envelope"
)

// Commands on the server's own machine that may read its key can sign anything anyway. So
// they may ask the running server about an address (where it belongs) and for a sign-in
// link, by a voucher: a token of an audience of its own, for one question, one address and a
// minute. It counts for nothing else, so that a program which listens at the server's
// address by mistake gets no credential of a person, and no link by a voucher for the rest.

const (
	// keyholderAudience, with the path behind it, keeps vouchers apart from bearer tokens,
	// sessions and each other.
	keyholderAudience = "ubl-keyholder "
	// voucherTTL is how long one holds.
	voucherTTL = time.Minute

	// HomePath says where the address of a voucher belongs, LinkPath makes a sign-in link
	// for it.
	HomePath = "/auth/keyholder/home"
	LinkPath = "/auth/keyholder/link"
)

// Voucher makes a voucher for a path of those and an address.
func (k *Key) Voucher(path, email string, now time.Time, random io.Reader) (string, error) {
	email = lowerEmail(email)
	if !validEmail(email) {
		return "", ubl.Errorf(ubl.CodeValidation, "the email address is not one that can be used")
	}
	id, err := drawID(random)
	if err != nil {
		return "", err
	}
	return k.sign(&jwt.Claims{
		Issuer: LocalIssuer, Audience: jwt.Audience{keyholderAudience + path}, Subject: email, ID: id,
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(voucherTTL)),
	})
}

// vouched is the address of a request's voucher for the path.
func (a *Authenticator) vouched(r *http.Request, path string) (email string, err error) {
	sent, err := bearerOf(r.Header)
	if err != nil {
		return "", err
	}
	token, err := jwt.ParseSigned(sent.token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return "", notValid(err)
	}
	now := a.now()
	c := &claims{signer: a.key().signerOf(token, now)}
	if err := token.Claims(c.signer.key.public, c); err != nil {
		return "", notValid(err)
	}
	switch err := c.check(LocalIssuer, keyholderAudience+path, now); {
	case err != nil:
		return "", err
	case !validEmail(c.Subject), c.Expiry.Time().After(now.Add(voucherTTL + leeway)):
		return "", notValid(errors.New("no voucher"))
	}
	return c.Subject, nil
}

// HomeAnswer says where an address belongs.
type HomeAnswer struct {
	// TenantID is the tenant; of somebody who is in none it is the one that they would
	// found or join.
	TenantID ubl.TenantID `json:"tenant_id"`
	Member   bool         `json:"member"`
	// Claimed says that the tenant has claimed the address's domain: its people join it.
	Claimed bool `json:"claimed"`
}

func (a *Authenticator) homeOfVouched(w http.ResponseWriter, r *http.Request) error {
	email, err := a.vouched(r, HomePath)
	if err != nil {
		return err
	}
	home, err := a.homeOf(r.Context(), localPerson("", email))
	if err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, HomeAnswer{TenantID: home.TenantID, Member: home.Member, Claimed: home.Claimed != ""})
	return nil
}

// LinkAnswer is the path of a sign-in link, and how long it holds.
type LinkAnswer struct {
	Path    string `json:"path"`
	Seconds int    `json:"seconds"`
}

// linkTTL is how long a link holds that was asked for with a voucher.
const linkTTL = 10 * time.Minute

func (a *Authenticator) linkForVouched(w http.ResponseWriter, r *http.Request) error {
	email, err := a.vouched(r, LinkPath)
	if err != nil {
		return err
	}
	if err := a.charge(r, localPerson("", email)); err != nil {
		return err
	}
	path, err := a.OfferLink(r.Context(), email, linkTTL)
	if err != nil {
		return err
	}
	envelope.Write(w, http.StatusCreated, LinkAnswer{Path: path, Seconds: int(linkTTL / time.Second)})
	return nil
}
