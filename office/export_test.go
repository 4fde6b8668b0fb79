package office

import "ubl"

// Waiting is how many callers wait for the completion of the request's key.
func (o *Office) Waiting(req ubl.Request) int {
	o.replays.mu.Lock()
	defer o.replays.mu.Unlock()
	r := o.replays.byKey[replayKey{req.Who.TenantID, req.Who.UserID, req.Key}]
	if r == nil {
		return 0
	}
	return r.waiting
}
