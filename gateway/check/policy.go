package check

import (
	"fmt"
	"slices"

	"ubl"
)

// Mode is what is done about a finding.
type Mode string

// Modes. The empty one is Record.
const (
	Off    Mode = "off"    // the check isn't made
	Record Mode = "record" // it is made and told
	Block  Mode = "block"  // what it finds goes no further
)

// DefaultInjectionLimit is the score from which Block blocks: that of one plain
// "ignore all previous instructions".
const DefaultInjectionLimit = 70

// Policy says which checks are made at a stage. The zero value records all.
type Policy struct {
	PII       Mode `yaml:"pii"`
	Injection Mode `yaml:"injection"`
	Topics    Mode `yaml:"topics"`
	// InjectionLimit is the score from which Injection blocks, 1 to 100;
	// DefaultInjectionLimit where it is 0.
	InjectionLimit int `yaml:"injection-limit"`
}

// Validate refuses modes that don't exist.
func (p Policy) Validate() error {
	for name, m := range map[string]Mode{"pii": p.PII, "injection": p.Injection, "topics": p.Topics} {
		if !slices.Contains([]Mode{"", Off, Record, Block}, m) {
			return fmt.Errorf("%s is neither off nor record nor block", name)
		}
	}
	if p.InjectionLimit < 0 || p.InjectionLimit > 100 {
		return fmt.Errorf("injection-limit is not between 1 and 100")
	}
	return nil
}

// Blocks reports whether any finding would be blocked: then nothing may be
// passed on before the whole text was looked at.
func (p Policy) Blocks() bool { return p.PII == Block || p.Injection == Block || p.Topics == Block }

// Look makes the checks of the policy.
func (p Policy) Look(text string) ubl.CheckResult {
	var r ubl.CheckResult
	if p.PII != Off {
		r.PII = findPII(text)
		detected := len(r.PII) > 0
		r.PIIDetected = &detected
		block(&r, p.PII == Block && detected, "pii_detected")
	}
	if p.Injection == Off && p.Topics == Off {
		return r
	}
	plain, hidden := simplify(text)
	if p.Injection != Off {
		score, rules := scoreInjection(plain, hidden)
		r.InjectionScore, r.Rules = &score, rules
		block(&r, p.Injection == Block && score >= p.limit(), "injection_score")
	}
	if p.Topics != Off {
		topic := findTopic(plain)
		r.UnsafeTopic = &topic
		block(&r, p.Topics == Block && topic != "", "unsafe_topic")
	}
	return r
}

func (p Policy) limit() int {
	if p.InjectionLimit == 0 {
		return DefaultInjectionLimit
	}
	return p.InjectionLimit
}

func block(r *ubl.CheckResult, blocked bool, name string) {
	if blocked && r.Blocked == "" {
		r.Blocked = name
	}
}

// Worse is the worse of what was found in two texts of one stage, finding by
// finding.
func Worse(a, b ubl.CheckResult) ubl.CheckResult {
	a.PII, a.Rules = union(a.PII, b.PII), union(a.Rules, b.Rules)
	if b.PIIDetected != nil && (a.PIIDetected == nil || *b.PIIDetected) {
		a.PIIDetected = b.PIIDetected
	}
	if b.InjectionScore != nil && (a.InjectionScore == nil || *b.InjectionScore > *a.InjectionScore) {
		a.InjectionScore = b.InjectionScore
	}
	if b.UnsafeTopic != nil && (a.UnsafeTopic == nil || *a.UnsafeTopic == "") {
		a.UnsafeTopic = b.UnsafeTopic
	}
	block(&a, b.Blocked != "", b.Blocked)
	return a
}

func union(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Fields are the findings as atoms carry them: pii_detected, injection_score
// and unsafe_topic, each behind the prefix and where the check was made.
func Fields(prefix string, r ubl.CheckResult) ubl.Fields {
	var f ubl.Fields
	if r.InjectionScore != nil {
		f = append(f, ubl.Int(prefix+"injection_score", int64(*r.InjectionScore)))
	}
	if r.PIIDetected != nil {
		f = append(f, ubl.Bool(prefix+"pii_detected", *r.PIIDetected))
	}
	if r.UnsafeTopic != nil {
		f = append(f, ubl.Str(prefix+"unsafe_topic", *r.UnsafeTopic))
	}
	return f
}
