package check

// topics is the table of topics that do harm, the gravest first. A topic is
// found where a text asks for a way to do it; writing about it is no finding.
var topics = []rule{
	{label: "child_abuse", words: []string{"child", "minor", "underage", "preteen"}, pattern: lazily(
		`\b(?:sexual\w*|porn\w*|nude|naked|erotic)(?: \w+){0,6} (?:child|children|minors?|underage|preteens?)\b|\b(?:child|children|minors?|underage|preteens?)(?: \w+){0,3} (?:porn\w*|nude|naked|erotic\w*)\b`)},
	{label: "self_harm", words: []string{"suicide", "kill myself", "hurt myself", "end my life", "cut myself", "self-harm", "self harm"}, pattern: lazily(
		`\b(?:how (?:do i|to|can i|could i)|ways? to|best way|help me|painless(?:ly)?|methods? (?:of|for))(?: \w+){0,5} (?:suicide|kill myself|hurt myself|end my life|cut myself|self[- ]harm)\b|\bi (?:want to|will|am going to) (?:kill|hurt|cut) myself\b`)},
	{label: "mass_weapons", words: []string{"sarin", "nerve agent", "anthrax", "mustard gas", "dirty bomb", "ricin", "nuclear", "smallpox", "bioweapon", "chemical weapon"}, pattern: lazily(
		asks + `(?: \S+){0,8} (?:sarin|nerve agents?|anthrax|mustard gas|dirty bombs?|ricin|nuclear (?:bombs?|weapons?)|smallpox|bioweapons?|chemical weapons?)\b`)},
	{label: "weapons", words: []string{"bomb", "explosive", "grenade", "ghost gun", "silencer", "molotov", "detonator"}, pattern: lazily(
		asks + `(?: \S+){0,8} (?:pipe bombs?|bombs?|explosives?|grenades?|ghost guns?|silencers?|molotovs?|detonators?)\b`)},
	{label: "malware", words: []string{"malware", "ransomware", "keylogger", "botnet", "computer virus", "rootkit", "phishing"}, pattern: lazily(
		asks + `(?: \S+){0,8} (?:malware|ransomware|keyloggers?|botnets?|computer virus|rootkits?|phishing (?:page|site|mail|e-?mail|kit)s?)\b`)},
	{label: "drugs", words: []string{"meth", "heroin", "fentanyl", "mdma", "cocaine", "lsd"}, pattern: lazily(
		asks + `(?: \S+){0,8} (?:meth|methamphetamine|crystal meth|heroin|fentanyl|mdma|cocaine|lsd)\b`)},
}

// asks is a question for a way to make something.
const asks = `\b(?:how (?:do i|do you|to|can i|could i|would i)|steps? (?:to|for)|instructions? (?:to|for|on)|recipe (?:to|for)|guide (?:to|for|on)|help me|teach me(?: to| how to)?|tell me how to|write(?: me)?|i want to)(?: \w+){0,4} (?:make|build|create|synthesi[sz]e|construct|cook|produce|manufacture|assemble|code|write|develop|grow|making|building|cooking|set up)`

// findTopic is the label of the first topic that matches, "" for none.
func findTopic(plain string) string {
	for _, topic := range topics {
		if topic.matches(plain) {
			return topic.label
		}
	}
	return ""
}
