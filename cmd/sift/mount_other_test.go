//go:build !linux

package main

// onMount is not called where there are no mount namespaces.
func onMount() {}
