package ubl

// Quota refuses one more of what a limit counts in all, where there are as many as it
// lets there be. A nil one refuses nothing.
type Quota func(limit string, have int) error

// The limits that a tenant counts by itself. Bytes are counted by its LedgerShard.
const (
	QuotaBytes      = "bytes-tenant"
	QuotaRooms      = "rooms-tenant"
	QuotaContainers = "containers-tenant"
	QuotaTokens     = "tokens-tenant"
	QuotaTools      = "tools-tenant"
)

// Rate is by which of a caller's rates a use of a tool is counted. The empty one is for
// reads, which count as requests alone.
type Rate string

// The rates of what writes. Sends are what people and agents do all day, and what takes
// away: messages, documents, calls, joining, leaving, removing, revoking. Creations make
// or change what stays: rooms, entries, roles, credentials, servers, who may use a tool. A
// look at the past counts as one of them.
const (
	Sends     Rate = "sends"
	Creations Rate = "creations"
)

// Within asks the quota.
func (q Quota) Within(limit string, have int) error {
	if q == nil {
		return nil
	}
	return q(limit, have)
}

// Content is what of a family's records counts as stored by the tenant: those in a key
// space, or the ones of them that Counts says. They are never overwritten.
type Content struct {
	Space  byte
	Counts func(key []byte) bool // nil for all
}

// Has reports whether a record of the key counts.
func (c Content) Has(key []byte) bool {
	return len(key) > 0 && key[0] == c.Space && (c.Counts == nil || c.Counts(key))
}
