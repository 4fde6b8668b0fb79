package tenant

import (
	"ubl"
	"ubl/actors"
)

// nameHeir has a sealed room or container take an heir. Its own act puts it on
// record, and knows the key.
func (x *Tenant) nameHeir(t *actors.Turn, c ubl.NameHeir) {
	err := x.owner(c.Who)
	heir, ok := x.state.License.Members[c.UserID]
	at := x.governedBy(c.Agreement)
	switch {
	case err != nil:
	case c.Who.IsService:
		err = ubl.Errorf(ubl.CodeForbidden, "a service can't name an heir")
	case !ok:
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such member of the tenant")
	case at == "":
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
	}
	if err != nil {
		t.Fail(err)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		return x.env.Ask.Ask(ctx, at, actors.Inherit{Request: c.Request, Heir: heir})
	})
}

// governedBy is the room or container that an Agreement governs, "" for none.
func (x *Tenant) governedBy(id ubl.AgreementID) ubl.Name {
	if container := ubl.ContainerOf(id); container != "" {
		if _, known := x.state.Containers[container]; known {
			return ubl.ContainerName(x.id, container)
		}
	}
	for room := range x.state.Rooms {
		if ubl.RoomAgreement(room) == id {
			return ubl.RoomName(x.id, room)
		}
	}
	return ""
}
