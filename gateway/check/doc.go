// Package check looks at texts on their way into a model and out of it: for
// personal data, for attempts to give the model other orders, and for topics
// that do harm.
//
// These are heuristics, and are labelled as such: tables of patterns that
// anybody can read here, no judgement. They find the plain cases and miss the
// clever ones, so a finding is a reason to look, and no finding is no proof.
//
//   - pii_detected: [pii] (addresses, phone numbers, cards, bank accounts,
//     numbers of persons), with checksums where the form has them.
//   - injection_score, 0 to 100: the weights of all rules of [injections] that
//     match, added up.
//   - unsafe_topic: the label of the first topic of [topics] that matches.
//
// Each can be off, recorded or blocked. Patterns are RE2 or scanners of their
// own with a bounded look-ahead, so the time is linear in the text, and the same
// text always gives the same findings. A finding carries labels, never a part of
// the text.
package check
