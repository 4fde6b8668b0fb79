package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Variables that no flag stands for.
const (
	// ownToken and configFile are read by the commands themselves.
	ownToken   = "UBL_TOKEN"
	configFile = "UBL_CONFIG"
)

// unflagged are the variables that are no flags: secrets, and the file with the rest.
func unflagged() []string {
	return []string{ownToken, configFile, "UBL_CLUSTER_SECRET", secretVariable, s3Secret, mailPassword, ircPassword}
}

// notOurs are variables that begin like ours and are for others: what the tests and
// builds of this repository are told, and what containers' hosts say about a service
// that is called ubl (UBL_SERVICE_HOST, UBL_PORT_8080_TCP_ADDR).
var notOurs = regexp.MustCompile(`^UBL_(SOAK|NEED_ALL|BIN|SCREENSHOTS|SEED|FLIP_SEED|OPS|EVAL_MODEL|VERSION|PUBLISH|TEST_.*|CHAOS_.*|COUNTER_HOOK` +
	`|(.*_)?SERVICE_(HOST|PORT(_.*)?)|(.*_)?PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// checkVariables refuses variables that begin with UBL_ and say nothing to any command:
// whoever sets one expects something of it. Those that the file names for secrets count.
func checkVariables(env map[string]string, file map[string]any, app *kong.Node) error {
	known := unflagged()
	for _, flag := range flagNames(app) {
		known = append(known, variable(flag))
	}
	known = append(known, namedVariables(file)...)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !strings.HasPrefix(name, "UBL_") || env[name] == "" || slices.Contains(known, name) || notOurs.MatchString(name) {
			continue
		}
		step := `unset it; a command's --help names the variables that it reads`
		if near := meant(name, known); near != "" {
			step = near + " Else " + step
		}
		return thenDo(usagef("the variable %s is none that ubl reads", clean(name)), "%s", step)
	}
	return nil
}

// namedVariables are those that a YAML file names under keys like key-variable.
func namedVariables(v any) (names []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if strings.HasSuffix(key, "-variable") {
				names = append(names, fmt.Sprint(value))
			}
			names = append(names, namedVariables(value)...)
		}
	case []any:
		for _, value := range v {
			names = append(names, namedVariables(value)...)
		}
	}
	return names
}
