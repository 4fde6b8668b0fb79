package check

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// rule is a pattern over a simplified text. Words are a cheap first look: the
// pattern is tried only where one of them occurs, and every match has one.
type rule struct {
	label   string
	weight  int
	words   []string
	pattern func() *regexp.Regexp
}

// lazily compiles an expression when it is first asked for: no start waits for those that are
// large when they are compiled.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

func (r rule) matches(plain string) bool {
	for _, w := range r.words {
		if strings.Contains(plain, w) {
			return r.pattern().MatchString(plain)
		}
	}
	return false
}

// injections is the table of attempts to give a model other orders than its
// user's. A rule counts once, however often it matches.
var injections = []rule{
	{"override", 70, []string{"instruction", "prompt", "rules", "guideline", "directive"}, lazily(
		`\b(?:ignore|disregard|forget|override|bypass)(?: \w+){0,4} (?:previous|prior|above|earlier|preceding|former|original|initial|existing|system|your|all|any)(?: \w+){0,3} (?:instructions?|prompts?|rules|guidelines|directives?)\b`)},
	{"override_translated", 70, []string{"instru", "anweisung", "vorgaben", "consignes", "istruzioni"}, lazily(
		`\b(?:ignor[eai]\w*|esque[çc]a|desconsidere|olvida|vergiss|missachte|oublie[zr]?|dimentica)(?: \pL+){0,4} (?:instruç(?:ões|ão)|instrucciones|instructions précédentes|anweisungen|vorgaben|consignes|istruzioni)`)},
	{"new_orders", 35, []string{"instruction", "orders", "prompt"}, lazily(
		`\b(?:new|updated|real|actual|true) (?:\w+ )?(?:instructions?|orders|system prompt)(?: are| is)? ?:`)},
	{"reveal_prompt", 45, []string{"prompt", "instruction", "message", "rules", "repeat"}, lazily(
		`\b(?:reveal|show|print|repeat|output|leak|display|tell me|give me|write out)(?: \w+){0,4} (?:system|hidden|initial|secret|original|developer)(?: \w+){0,2} (?:prompts?|instructions?|messages?|rules)\b|\brepeat (?:everything|all|the words|the text) above\b`)},
	{"unbound", 45, []string{"you are now", "act as", "pretend", "roleplay", "role-play", "jailbr", "developer mode", "do anything now"}, lazily(
		`\b(?:you are now|act as|pretend (?:to be|you are|that you are)|role-?play as)(?: \w+){0,3} (?:dan|unrestricted|unfiltered|uncensored|jailbroken|evil|amoral)\b|\bdo anything now\b|\bjailbr(?:eak|oken)\b|\b(?:in|enable|enter) developer mode\b|\bpretend (?:that )?you have no (?:rules|restrictions|limits|filters)\b`)},
	{"role_marker", 45, []string{"<|", "[inst]", "<<sys>>", "<system>", "</system>", "### system", "### instruction", "begin system", "end of prompt"}, lazily(
		`<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)\|>|\[/?inst\]|<</?sys>>|</?system>|### ?(?:system|instructions?) ?:|\[?begin system (?:prompt|message)|\bend of prompt\b`)},
	{"keep_from_user", 40, []string{"tell", "inform", "mention", "notify", "alert", "reveal"}, lazily(
		`\b(?:do not|don't|never|without) (?:tell|inform|notify|alert|telling|informing|notifying|alerting) (?:the |your )?(?:user|human|owner|operator|person)\b|\b(?:do not|don't|never) (?:mention|reveal) (?:this|that|it)\b`)},
	{"exfiltrate", 40, []string{"http:", "https:", "@"}, lazily(
		`\b(?:send|post|upload|forward|exfiltrate|transmit|leak)(?: \S+){0,8} to (?:https?://|\S{1,64}@\S)|!\[[^\]]{0,200}\]\(https?://[^)\s]{1,500}(?:\?|=)`)},
	{"credentials", 30, []string{"password", "api key", "api-key", "secret", "token", "credential"}, lazily(
		`\b(?:reveal|show|print|send|give me|output|list|dump|exfiltrate)(?: \w+){0,4} (?:passwords?|api[ -]keys?|secrets|access tokens?|credentials)\b`)},
	{"speaks_to_agents", 30, []string{"ai agent", "ai assistant", "language model", "llm", "chatbot"}, lazily(
		`\b(?:if you are|attention|note to|message (?:to|for)|instructions? (?:to|for)|dear)(?: \w+){0,4} (?:ai agents?|ai assistants?|language models?|llms?|chatbots?)\b`)},
	{"encoded_orders", 25, []string{"base64", "rot13", "hex"}, lazily(
		`\b(?:decode|decrypt|translate)(?: \w+){0,6} (?:base64|rot13|hex)(?: \w+){0,6} (?:follow|execute|obey|run|do what)\b`)},
}

// hiddenLimit is how many invisible characters a text may have; hiddenWeight is
// what more of them weigh. Flags of regions are made of a few.
const (
	hiddenLimit  = 12
	hiddenWeight = 40
)

// scoreInjection adds up the weights of the rules that match.
func scoreInjection(plain string, hidden int) (score int, labels []string) {
	for _, r := range injections {
		if r.matches(plain) {
			score += r.weight
			labels = append(labels, r.label)
		}
	}
	if hidden > hiddenLimit {
		score += hiddenWeight
		labels = append(labels, "hidden_text")
	}
	return min(score, 100), labels
}

// simplify is a text in lower case, with one space where there is any number of
// blanks, and without characters that nobody sees, which it counts. Letters of
// Unicode's tag block are what they stand for.
func simplify(text string) (plain string, hidden int) {
	var b strings.Builder
	b.Grow(len(text))
	blank := false
	for _, r := range text {
		if invisible(r) {
			hidden++
			if r = r - 0xE0000; r < 0x20 || r > 0x7E {
				continue
			}
		}
		if unicode.IsSpace(r) {
			blank = true
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		if r == '’' {
			r = '\''
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String(), hidden
}

// invisible reports whether a character is one of those that hide text from a
// reader: tags, zero-width spaces and changes of direction.
func invisible(r rune) bool {
	switch {
	case r >= 0xE0000 && r <= 0xE007F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0x200B || r == 0x2060 || r == 0xFEFF || r == 0x00AD
}
