// Package agreement is what families have in common that keep an Agreement: Tenants,
// Rooms and Containers. It has no actor of its own.
//
// # Data and owners
//
// A [Kept] Agreement is part of a family's state, and changes in its mailbox alone: its
// entries, its terms ([ubl.Terms]), and other terms that are proposed. Its hash is made once
// for each change. Its history is in the family's events, each with the hash after it, and is
// read behind the mailbox ([History], [Show]). Which rooms and containers somebody has a part
// in, these write beside their events ([MemberIndex], [ContainerMemberIndex]); their Tenant
// reads that to list them. [Meters] count what terms limit; they follow from no event.
//
// Terms are data. A record without its own has the usual ones of its type, which the families
// write down (terms.go of each) and never change.
//
// # The way of one act
//
// A decision asks the terms of the record whether they permit the act to its author
// ([ubl.Agreement.Permits]), and refuses in the family's words. The seat asks once more, of the
// record that the act names ([Kept.Stands]): a decision that forgot can't carry anything out.
// It also holds the act against the terms' time and limits. What people do in a tenant about
// themselves, or before they are inside, is theirs by the Tenant's decisions. Both are one function, [ubl.Terms.Permit].
//
// Some things no terms decide, since they are not the parties' to give away or to take:
// entries may read the record, look into what it governs, answer a proposal and leave; services don't end a tenant, invite or name
// heirs; the last owner stays; physics rule out what they rule out.
//
// # The way of one change
//
// [Entries] decides about entries for Rooms and Containers alike, [Drafting] about terms, for
// Tenants too: a command and the Agreement make a change, which is an act and what the family's
// event keeps, or a refusal. The family makes its plan of it.
//
//	propose   by whom the terms in force permit it; waits for those who must accept,
//	          as they say, or is in force at once
//	accept    names the terms by their hash; the last one brings them into force
//	withdraw  by who proposed, who must accept, and whom the terms permit it
//	end       by whom they permit it, or by the alarm of their time ([TermAlarm])
//
// A Tenant asks the rooms and containers in it who comes after their owners
// ([GetSuccession]), and has sealed ones take an heir ([Inherit]). A public container asks
// the Tenant whether it is still there ([CheckLicense]) before anyone is shown something. No
// other node can send these commands.
//
// # What fails, and then what
//
// A refusal changes nothing. What was handed out stays as it was, whatever changes after
// that ([Kept.Share]). Who must accept and leaves is no longer waited for; where nobody else
// is, anyone who had accepted does so once more. Proposing stays permitted to owners, else terms are
// refused; who has to accept, and what else owners may do, is the terms' alone: an owner who
// leaves everything to all entries together makes each of them able to stop a change. Counts of limits are lost with the actor, which
// leaves memory after a minute without work: in that time they would be full again.
package agreement
