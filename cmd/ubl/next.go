package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"ubl"
)

// Every error is told in one form: a line that begins with ubl:, which says what failed
// and why, and, where there is something to do about it, a line that begins with next:.

// stepError is an error that knows what to do next.
type stepError struct {
	error
	step string
}

func (e *stepError) Unwrap() error { return e.error }

// thenDo is err with what to do next; nil stays nil.
func thenDo(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &stepError{err, fmt.Sprintf(format, args...)}
}

// nextStep is what to do about an error, "" where nobody knows. What the error itself
// says comes first.
func nextStep(err error) string {
	if own, ok := errors.AsType[*stepError](err); ok {
		return own.step
	}
	if refusal, ok := errors.AsType[*apiError](err); ok {
		return refusal.next()
	}
	return unreachedNext(err)
}

// next is what to do about a refusal of the server's.
func (e *apiError) next() string {
	switch e.body.Error.Code {
	case ubl.CodeUnauthorized:
		return `sign in again with "ubl login URL"; on the server's own machine, make a token with "ubl token EMAIL" and export it as UBL_TOKEN`
	case ubl.CodeNotAMember:
		return `"ubl room list" shows the rooms that you are in; an owner of another can add you`
	case ubl.CodeNotFound:
		if e.body.Error.Message == ubl.NoContainer {
			return `"ubl workspace list" shows the workspaces that you may look into; "ubl workspace create NAME" makes one`
		}
	}
	return ""
}

// unreachedNext is what to do where no server answered as one of ours would.
func unreachedNext(err error) string {
	var (
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		name    *net.DNSError
	)
	if foreign, ok := errors.AsType[*foreignError](err); ok {
		switch {
		case foreign.status >= 300 && foreign.status < 400:
			return "the answer leads elsewhere: give --url the address that a browser ends at, mostly https://…"
		case foreign.status == 400:
			return "if the server speaks TLS, give --url an address that begins with https://"
		}
		return ""
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return `is the server running? Start it with "ubl serve", or say with --url where it is`
	case errors.As(err, &name):
		return "check the host name in --url, and that this machine can resolve it"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server speaks no TLS there: give --url an address that begins with http://"
	case errors.As(err, &unknown):
		return "the server's certificate is from an authority that this machine doesn't know: name its file in SSL_CERT_FILE"
	case errors.As(err, &host):
		return "the server's certificate is for another name: give --url the name that is in it"
	}
	return ""
}
