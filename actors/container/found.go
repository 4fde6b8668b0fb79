package container

import (
	"ubl"
	"ubl/actors"
)

// Found makes the append that founds a container: the kind's act under the
// tenant's Agreement, and the first event with its maker as owner. The Tenant
// commits it together with its directory; only from then on is there a Container,
// the sole writer of its own. The physics are the summary's, which the kind's may
// have been asked to differ from; it fails where they contradict themselves.
func Found(req ubl.Request, tenant ubl.TenantID, kind ubl.Kind, summary ubl.ContainerSummary) (*actors.Append, error) {
	if err := summary.Physics.Check(); err != nil {
		return nil, err
	}
	id := summary.ContainerID
	owner := entryOf(req.Who, ubl.RoleOwner, summary.CreatedAt)
	p := setting(summary, kind.GovernedBy(id), owner)
	p.agreement = ubl.TenantAgreement(tenant)
	p.this = ubl.Fields{
		ubl.Str("container_id", id), ubl.Str("kind", kind.Name), ubl.Str("name", summary.Name), summary.Physics.Field(),
	}
	p.effects = []ubl.Fields{{ubl.Str("container_id", id), ubl.Str("op", "container.create")}}
	e := event{
		Version: eventVersion, N: 1, Did: kind.Did, At: summary.CreatedAt, By: req.Who.UserID,
		Kind: &kind, Container: &summary, Tenant: tenant, Member: &owner,
	}
	a := &actors.Append{}
	record(a, id, kind.GovernedBy(id), e, req, p)
	return a, nil
}
