package container

import (
	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Found makes the append that founds a container: the kind's act under the
// tenant's Agreement, and the first event with its maker as owner. The Tenant
// commits it together with its directory; only from then on is there a Container,
// the sole writer of its own. The physics are the summary's, which the kind's may
// have been asked to differ from; it fails where they contradict themselves.
func Found(req ubl.Request, tenant ubl.TenantID, made ubl.Kind, summary ubl.ContainerSummary) (*actors.Append, error) {
	if err := summary.Physics.Check(); err != nil {
		return nil, err
	}
	id, governing := summary.ContainerID, made.GovernedBy(summary.ContainerID)
	owner := agreement.EntryOf(req.Who, ubl.RoleOwner, summary.CreatedAt)
	var alarms []actors.Alarm
	if t := made.Terms; t != nil && t.Until != 0 {
		alarms = []actors.Alarm{{Key: agreement.TermAlarm, At: t.Until}}
	}
	return kind().Found(ubl.ContainerName(tenant, id), made.Did, req, summary.CreatedAt, &plan{
		Act: actors.Act{
			Agreement: ubl.TenantAgreement(tenant),
			This: ubl.Fields{
				ubl.Str("container_id", id), ubl.Str("kind", made.Name), ubl.Str("name", summary.Name), summary.Physics.Field(),
			},
			Effects:  []ubl.Fields{{ubl.Str("container_id", id), ubl.Str("op", "container.create")}},
			Pointers: pointers(governing, id),
		},
		Event:   event{Kind: &made, Container: &summary, Tenant: tenant, Member: &owner},
		Records: []actors.Record{memberIndex(summary, owner)}, Alarms: alarms,
	}), nil
}
