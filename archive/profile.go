package archive

import "ubl"

// Profile is the file profile.json: who the person is in the tenant, and what they set there.
type Profile struct {
	Member ubl.Member `json:"member"`
	// Person has preferences, devices without what reaches them, reminders, and what waits.
	Person *ubl.Person `json:"person,omitempty"`
}

// profile writes who the person is, what they set, and what they have scheduled.
func (j *job) profile() error {
	who := j.req.Who
	member, err := ask[*ubl.Member](j, j.tenant, ubl.FindMember{Who: who, UserID: who.UserID})
	if err != nil {
		return err
	}
	j.names[who.UserID] = member.Called()
	p, me := Profile{Member: *member}, ubl.PersonName(who.TenantID, who.UserID)
	if j.may("preferences, devices and reminders", toolPerson) {
		if p.Person, err = ask[*ubl.Person](j, me, ubl.GetPerson{Who: who}); err != nil {
			return err
		}
	}
	if err := j.zip.object("profile.json", p); err != nil {
		return err
	}
	if !j.may("scheduled messages", toolScheduled) {
		return nil
	}
	list, err := ask[*ubl.ScheduledList](j, me, ubl.ListScheduled{Who: who})
	if err != nil {
		return err
	}
	return j.zip.file("scheduled.jsonl", func() error {
		for _, m := range list.Scheduled {
			if err := j.zip.line(m); err != nil {
				return err
			}
		}
		return nil
	})
}
