package main

// The certificates of public authorities, for where the system has none, as in a container that
// holds this program alone.
import _ "golang.org/x/crypto/x509roots/fallback"
