package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/families"
)

// takeKinds takes the section out of the file that says which kinds of containers there are
// besides those of the product: each as kind.set has it, with its name.
func takeKinds(file map[string]any) ([]ubl.Kind, error) {
	var given []map[string]any
	if err := takeSection(file, "kinds", &given); err != nil {
		return nil, err
	}
	var kinds []ubl.Kind
	for i, section := range given {
		k, err := kindOf(section)
		if err != nil {
			return nil, fmt.Errorf("the YAML file's kinds, number %d: %w", i+1, err)
		}
		for _, other := range append(ubl.Kinds(), kinds...) {
			if other.Name == k.Name {
				return nil, fmt.Errorf("the YAML file's kinds: there are two %s", k.Name)
			}
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// kindOf reads a kind in its JSON form, in which the API has it.
func kindOf(section map[string]any) (k ubl.Kind, err error) {
	data, err := json.Marshal(section)
	if err != nil {
		return k, fmt.Errorf("couldn't read it: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&k); err != nil {
		return k, fmt.Errorf("couldn't read it: %w", err)
	}
	if k.Own || k.Did != "" {
		return k, fmt.Errorf("%s: did and own are not for the file", k.Name)
	}
	k.Did = ubl.DidContainerCreate
	if k.Agreement == "" {
		k.Agreement = k.Name + "_agreement"
	}
	if k.Terms != nil {
		if k.Terms.Form == "" {
			k.Terms.Form = ubl.TermsForm
		}
		if k.Terms.Accept == "" {
			k.Terms.Accept = ubl.AcceptProposer
		}
	}
	if err := agreement.CheckKind(k, actors.Named(families.All.Acts())...); err != nil {
		return k, fmt.Errorf("%s: %w %v", k.Name, err, ubl.AsError(err).Details)
	}
	return k, nil
}
