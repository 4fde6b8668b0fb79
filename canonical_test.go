package ubl_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"ubl"
)

func TestHashVectors(t *testing.T) {
	if got, want := ubl.BodyHash(ubl.Body{Text: "hello"}.Canonical()), "b:cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176"; got != want {
		t.Errorf("body hash = %s, want %s", got, want)
	}
	said := ubl.Body{Mentions: []ubl.Mention{"@room", "u:bob"}, Text: "hello"}
	if got, want := ubl.BodyHash(said.Canonical()), "b:aa3222026d27a2794c567cd27758076bb7e80ffc07c617ebfb6ae430cd6dc39e"; got != want {
		t.Errorf("a body with mentions is %s, want %s", got, want)
	}
	cid := ubl.CID([]byte(`{"a":1}`))
	if want := "c:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"; cid != want {
		t.Errorf("cid = %s, want %s", cid, want)
	}
	if got, want := ubl.NextHead(ubl.Genesis, cid), "h:50e4b87d2858b825114eb6c1b4fe63ade2f1419dd5ceb2285ffa43dbfd13b171"; got != want {
		t.Errorf("head after genesis = %s, want %s", got, want)
	}
}

func TestValidHash(t *testing.T) {
	digits := strings.Repeat("0a", 32)
	for in, want := range map[string]bool{
		"c:" + digits:                   true,
		"h:" + digits:                   false,
		"c:" + digits[1:]:               false,
		"c:" + digits + "0":             false,
		"c:" + strings.ToUpper(digits):  false,
		"c:" + digits[:62] + "zz":       false,
		"c:" + digits[:62] + "\xff\xff": false,
		"":                              false,
	} {
		if got := ubl.ValidHash("c:", in); got != want {
			t.Errorf("ValidHash(%q) = %t", in, got)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"the sample of RFC 8785, 3.2.2", `{
			"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			"literals": [null, true, false]
		}`, `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"keys sort by UTF-16 units, RFC 8785, 3.2.3",
			`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"},
		{"what needs no escape has none", `"\u2028\u2029\u007f<>&\/"`, "\"\u2028\u2029\u007f<>&/\""},
		{"short escapes", `"\u0008\u0009\u000a\u000c\u000d\u0000\u001f"`, `"\b\t\n\f\r\u0000\u001f"`},
		{"no normalisation: e + combining acute stays two", `"e\u0301"`, "\"e\u0301\""},
		{"minus zero", `-0`, `0`},
		{"the largest safe integers", `[9007199254740991,-9007199254740991]`, `[9007199254740991,-9007199254740991]`},
		{"a fraction that is an integer", `[1.0,1e2,-5.00]`, `[1,100,-5]`},
		{"empty", `[{},[],""]`, `[{},[],""]`},
		{"digits in a string are no number", `"90071992547409920000\"90071992547409920000"`, `"90071992547409920000\"90071992547409920000"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ubl.Canonical([]byte(c.in))
			if err != nil || string(got) != c.want {
				t.Errorf("Canonical(%s)\n got %s, %v\nwant %s", c.in, got, err, c.want)
			}
		})
	}
}

// The IEEE-754 samples of RFC 8785, appendix B.
func TestCanonicalNumbers(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
	} {
		in := fmt.Sprintf("%.17e", math.Float64frombits(bits))
		if got, err := ubl.Canonical([]byte(in)); err != nil || string(got) != want {
			t.Errorf("Canonical(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"an integer beyond 2^53-1":        `9007199254740992`,
		"an integer below -(2^53-1)":      `{"a":[-9007199254740992]}`,
		"an integer in exponent form":     `1e20`,
		"an integer behind a point":       `9007199254740992.0`,
		"a fraction that rounds above":    `9007199254740991.9`,
		"duplicate keys":                  `{"a":1,"a":1}`,
		"duplicate keys, escaped":         `{"a":1,"\u0061":1}`,
		"a lone high surrogate":           `"\ud800"`,
		"a lone low surrogate":            `"\udc00"`,
		"a pair in the wrong order":       `"\udc00\ud800"`,
		"invalid UTF-8":                   "\"\xff\"",
		"an overlong form":                "\"\xc0\x80\"",
		"a surrogate in UTF-8":            "\"\xed\xa0\x80\"",
		"a byte order mark":               "\ufeff{}",
		"trailing data":                   `{} {}`,
		"nothing":                         ``,
		"a comment":                       `{}//`,
		"a trailing comma":                `[1,]`,
		"a leading zero":                  `01`,
		"a plus sign":                     `+1`,
		"NaN":                             `NaN`,
		"a number beyond a double":        `1e400`,
		"a control character in a string": "\"\n\"",
		"a nesting that would eat memory": strings.Repeat("[", 1<<20),
		"a nesting of 1,001 levels":       strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
	} {
		if got, err := ubl.Canonical([]byte(in)); err == nil {
			t.Errorf("%s: got %.60s, want an error", name, got)
		}
	}
}

// FuzzCanonical holds the canonical form against a second implementation: what
// one accepts and the other refuses may only be an integer that we don't hash.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":[1e2,-0,"\u20ac"],"a":null}`, `1e400`, `"\ud800"`, `{"a":1,"a":2}`, ` [1 , 2.50] `, "1e-400", `-1E+2`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, err := ubl.Canonical(in)
		theirs := jsontext.Value(append([]byte(nil), in...))
		theirErr := theirs.Canonicalize()
		if err != nil {
			if theirErr == nil && !strings.Contains(err.Error(), "2^53") && !hugeNumber(in) {
				t.Fatalf("refused: %v\nbut the second implementation gives %s", err, theirs)
			}
			return
		}
		if theirErr != nil || string(ours) != string(theirs) {
			t.Fatalf("%s\n ours %s\ntheirs %s, %v", in, ours, theirs, theirErr)
		}
		if again, err := ubl.Canonical(ours); err != nil || string(again) != string(ours) {
			t.Fatalf("not stable: %s becomes %s, %v", ours, again, err)
		}
	})
}

// hugeNumber tells inputs that may hold a number beyond a double, which the
// second implementation clamps instead of refusing.
func hugeNumber(in []byte) bool { return strings.ContainsAny(string(in), "eE") || len(in) > 300 }

// Numbers of every exponent, for which random bytes are a poor source.
func TestCanonicalNumbersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			t.Skip("not a number of JSON")
		}
		in := fmt.Sprintf("%.17g", f)
		ours, err := ubl.Canonical([]byte(in))
		if err != nil {
			return // an unsafe integer
		}
		theirs := jsontext.Value(in)
		if err := theirs.Canonicalize(); err != nil || string(theirs) != string(ours) {
			t.Fatalf("%s: ours %s, theirs %s, %v", in, ours, theirs, err)
		}
	})
}

func TestFingerprintPartsDontRunTogether(t *testing.T) {
	if ubl.Fingerprint("ab", "c") == ubl.Fingerprint("a", "bc") || ubl.Fingerprint("a") == ubl.Fingerprint("a", "") {
		t.Error("different parts have one fingerprint")
	}
}

// counting is a source of "random" bytes that tests can foresee.
type counting struct{ n uint64 }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], c.n)
		p[i] = hex.EncodeToString(b[:])[15]
		c.n++
	}
	return len(p), nil
}

// TestCommitText is that to the text under its name, as canonical JSON.
func TestCommitText(t *testing.T) {
	for _, text := range []string{"", "hello", "a \"quote\"\\", "line\nand tab\t\x00\x1f", "<b>&\u2028", "会議 😀"} {
		canonical, err := ubl.Fields{ubl.Str("title", text)}.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := (ubl.Salt{1}).CommitText("title", text), (ubl.Salt{1}).Commit(canonical); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
