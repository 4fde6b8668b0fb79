// Package wire writes commands, answers and errors as bytes, so that a node
// can forward a question to another and pass on what it was answered.
//
// # The form
//
//	command, answer   version · length of the name · name · value
//	error             version · value
//
// The version is one byte, 1. The name is that of the type ("SendMessage",
// "*Sent", "[]RoomEntry", "nil") behind one byte with its length. The value is
// MessagePack, as vmihailenco/msgpack writes it: a struct is a map from field
// names to values (releases before left out those that are zero, and still may);
// an embedded struct lends its fields to the outer one, [ubl.Time] is its text,
// [ubl.Fields] is its JSON. JSON tags count for nothing: an identity travels whole.
// The messages of the calls between nodes have the same form ([Append], [Read]).
//
// # Nodes of two versions
//
// While nodes are replaced one by one, both versions talk to each other. A
// field may be added to a type: who doesn't know it passes over it, who misses
// it reads its zero value. A type may be added: who doesn't know it answers
// [ErrUnknown]. Whatever else is changed (a field's type or meaning, a type's
// name) needs a new version byte, which is refused with [ErrNewer]; the test of
// the golden file fails where that is forgotten.
//
// # What fails
//
// Peers are authenticated, and still nothing that they send may stop a node.
// The library bounds neither depth nor memory: it makes room for as many parts as
// a list says that it has. So before a value is decoded it is read over once
// ([ErrMalformed] where it is not whole, nested too deep, or would take far more
// memory than bytes), and only then built. The size of the bytes themselves is
// bounded by the caller. The library also takes a list of all fields for a struct,
// which nobody writes.
package wire

import (
	"errors"
	"fmt"
	"reflect"

	"ubl"
)

// version is the first byte of everything. It is raised where older nodes would
// misread what newer ones write.
const version = 1

// Errors that decoding wraps.
var (
	// ErrNewer: the other node writes a form that this program doesn't know.
	ErrNewer = errors.New("written in a newer form than this program knows")
	// ErrUnknown: the other node knows a command or an answer that this one
	// doesn't. Nothing was done with it.
	ErrUnknown = errors.New("this program doesn't know the type, which a newer one may")
	// ErrMalformed: the bytes are not what any version writes.
	ErrMalformed = errors.New("not well formed")
)

// Registry knows commands and answers by their names. It never changes once
// made, and is safe for concurrent use.
type Registry struct {
	commands, answers table
}

// NewRegistry makes a registry of the types of the given values. Commands are
// structs; answers may be structs, pointers, slices, numbers and nil. Two types
// of one name are an error, and so is a type that would not come back as it
// was: one with unexported fields, interfaces, or two fields of one name.
func NewRegistry(commands []ubl.Command, answers []any) (*Registry, error) {
	r := &Registry{newTable("command"), newTable("answer")}
	for _, c := range commands {
		t := reflect.TypeOf(c)
		if t == nil || t.Kind() != reflect.Struct {
			return nil, fmt.Errorf("couldn't register the command %T: it is not a struct", c)
		}
		if err := r.commands.add(t); err != nil {
			return nil, fmt.Errorf("couldn't register a command: %w", err)
		}
	}
	for _, a := range answers {
		if err := r.answers.add(reflect.TypeOf(a)); err != nil {
			return nil, fmt.Errorf("couldn't register an answer: %w", err)
		}
	}
	return r, nil
}

// EncodeCommand appends the command to dst. It fails for one that is not
// registered.
func (r *Registry) EncodeCommand(dst []byte, cmd ubl.Command) ([]byte, error) {
	return r.commands.encode(dst, cmd)
}

// DecodeCommand reads a command. Errors wrap one of this package's.
func (r *Registry) DecodeCommand(data []byte) (ubl.Command, error) {
	v, err := r.commands.decode(data)
	if err != nil {
		return nil, err
	}
	return v.(ubl.Command), nil
}

// EncodeAnswer appends the answer, which may be nil, to dst. It fails for one of
// a type that is not registered.
func (r *Registry) EncodeAnswer(dst []byte, answer any) ([]byte, error) {
	return r.answers.encode(dst, answer)
}

// DecodeAnswer reads an answer: of the very type that was encoded, so that a nil
// pointer comes back as a nil pointer of its type. Errors wrap one of this
// package's.
func (r *Registry) DecodeAnswer(data []byte) (any, error) {
	return r.answers.decode(data)
}
