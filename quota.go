package ubl

// Quota refuses one more of what a limit counts in all, where there are as many as it
// lets there be. A nil one refuses nothing.
type Quota func(limit string, have int) error

// The limits that a tenant counts by itself.
const (
	QuotaRooms      = "rooms-tenant"
	QuotaContainers = "containers-tenant"
	QuotaTokens     = "tokens-tenant"
)

// Within asks the quota.
func (q Quota) Within(limit string, have int) error {
	if q == nil {
		return nil
	}
	return q(limit, have)
}
