// Package agreement is what families have in common that keep an Agreement: Tenants,
// Rooms and Containers. It has no actor of its own.
//
// # Data and owners
//
// A [Kept] Agreement is part of a family's state, and changes in its mailbox alone. Its
// history is in the family's events, and read behind the mailbox ([History], [Show]).
// Which rooms and containers somebody has a part in, these write beside their events
// ([MemberIndex], [ContainerMemberIndex]); their Tenant reads that to list them.
//
// # The way of one change
//
// [Entries] decides for Rooms and Containers alike: a command and the Agreement make an
// [EntryChange], which is an act and what the family's event keeps, or a refusal. The
// family makes its plan of it.
//
// A Tenant asks the rooms and containers in it who comes after their owners
// ([GetSuccession]), and has sealed ones take an heir ([Inherit]). No other node can send
// these commands.
//
// # What fails, and then what
//
// A refusal changes nothing. What was handed out stays as it was, whatever changes after
// that ([Kept.Share]).
package agreement
