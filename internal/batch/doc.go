// Package batch runs lists of targets, one after the other, for callers that
// collect the answers later: the rules of SPEC section 5.
package batch
