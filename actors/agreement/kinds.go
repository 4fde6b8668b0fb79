package agreement

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"ubl"
)

// MaxKinds is the most kinds of containers that a tenant has of its own.
const MaxKinds = 50

var (
	kindName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	kindIDs  = regexp.MustCompile(`^[a-z0-9-]{0,32}$`)
)

// taken are names that other records of a tenant have in their ids.
var taken = []string{"room", "tenant", "tool", "workspace", "wallet", "container"}

// CheckKind refuses a kind of containers that can't be, wherever it comes from: an operator's
// file, or an owner. Its terms may name acts that families bring along.
func CheckKind(k ubl.Kind, brought ...ubl.Did) error {
	wrong := map[string]string{}
	mustBe := func(ok bool, place, reason string) {
		if !ok {
			wrong["kind."+place] = reason
		}
	}
	mustBe(kindName.MatchString(k.Name) && !slices.Contains(taken, k.Name), "name", "not 1 to 64 of a-z, 0-9 and _, or taken")
	mustBe(kindName.MatchString(k.Agreement) && !slices.Contains([]string{ubl.TenantLicense, ubl.RoomGovernance, ubl.ToolAccessType}, k.Agreement),
		"agreement", "not 1 to 64 of a-z, 0-9 and _, or taken")
	mustBe(kindIDs.MatchString(k.IDs), "ids", "not up to 32 of a-z, 0-9 and -")
	mustBe(len(k.Content) == 0 || k.Physics.Topology != ubl.Values, "content", "credits have no text")
	for _, c := range k.Content {
		mustBe(slices.Contains(ubl.ContentTypes(), c), "content", "not one of "+strings.Join(ubl.ContentTypes(), ", "))
	}
	mustBe(len(k.Tools) <= ubl.MaxPermitted && !slices.ContainsFunc(k.Tools, func(t string) bool { return !ubl.ValidToolName(t) }), "tools", "too many, or one is no name of a tool")
	if len(wrong) > 0 {
		err := ubl.Errorf(ubl.CodeValidation, "the kind is not as it must be; see details")
		err.Details = wrong
		return err
	}
	err := k.Physics.Check()
	if err == nil && k.Terms != nil {
		if err = k.Terms.Check(brought...); err == nil {
			err = ContainerReach(k.Physics).Check(k.Terms)
		}
	}
	return err
}

// ContainerReach is how far the terms of a container of the physics may go. Its target may take
// what it can't look into, and the general workspace everybody.
func ContainerReach(p ubl.Physics) Reach {
	return Reach{
		Tenant: p.Permeability == ubl.Open || p.Permeability == ubl.Public, Anyone: p.Permeability == ubl.Public,
		Joins: []ubl.Did{ubl.DidContainerJoin, ubl.DidReceive},
	}
}

// Suits refuses a text that is of none of a kind's content types; a kind without any takes all.
func Suits(types []string, text string) error {
	if len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return strings.HasPrefix(t, "text/") }) || json.Valid([]byte(text)) {
		return nil
	}
	return errUnsuited(types)
}

// SuitsFile refuses a file whose media type is none of a kind's content types, whatever its charset.
// What somebody says that a file is counts: unlike a text's, its content isn't read here.
func SuitsFile(types []string, kind string) error {
	kind, _, _ = strings.Cut(kind, ";")
	if len(types) == 0 || slices.Contains(types, kind) {
		return nil
	}
	return errUnsuited(types)
}

func errUnsuited(types []string) error {
	return ubl.Errorf(ubl.CodeValidation, "the content is not %s, which is all that the container takes", strings.Join(types, " or "))
}
