// Package sift holds the words that every other package speaks: Target,
// Caller, Document, Envelope and Failure, with their closed lists of codes,
// hints, modes and warnings. It does no I/O and imports nothing of ours.
package sift
