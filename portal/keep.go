package portal

import (
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"ubl"
)

// Keeper seals secrets that others than the portal keep in the store, under the nodes' keys: those
// of one kind, each for the actor whose name is of.
type Keeper struct {
	kind   string
	sealer *sealer
}

// NewKeeper makes one, of keys as [Options] has them.
func NewKeeper(kind string, keys func() [][]byte, random io.Reader) *Keeper {
	return &Keeper{kind, &sealer{keys, random}}
}

func (k *Keeper) purpose(of ubl.Name) purpose {
	return purpose{kind: k.kind, tenant: of.Group().Tenant, server: of.Local()}
}

// Seal encrypts; nothing stays nothing. It fails while the node doesn't know its keys.
func (k *Keeper) Seal(of ubl.Name, plain []byte) ([]byte, error) {
	if len(k.sealer.keys()) == 0 {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the node doesn't know its keys yet")
	}
	return k.sealer.seal(k.purpose(of), plain)
}

// Open decrypts what was sealed for the same actor.
func (k *Keeper) Open(of ubl.Name, sealed []byte) ([]byte, error) {
	if len(k.sealer.keys()) == 0 {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the node doesn't know its keys yet")
	}
	return k.sealer.open(k.purpose(of), sealed)
}

// GuardedClient is for addresses that a tenant's people have named, with the guard that the
// portal's own ways have: of the private networks it reaches those alone that are allowed. It
// follows no redirect, and reads no long answer.
func GuardedClient(allowed []netip.Prefix, timeout time.Duration, log *slog.Logger) *http.Client {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: bounded{newOutside(allowed, 0, log)}, CheckRedirect: stay, Timeout: timeout}
}

// GuardedTransport is the way of [GuardedClient] for long answers, as files are: whoever reads
// them bounds them.
func GuardedTransport(allowed []netip.Prefix, log *slog.Logger) http.RoundTripper {
	return newOutside(allowed, 0, log)
}
