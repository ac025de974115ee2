// Package batch runs lists of targets, one after the other, for callers that
// collect the answers later: the rules of SPEC section 5.
//
// A Runner is made with New. Recover is called before anybody can submit, Run
// works on the jobs until its context ends. What it knows of jobs is in its
// Store, which decides every race; what it holds in memory only makes waiting
// short. docs/batch-states.md draws what happens to a job and to a target.
//
// Nothing that a Runner logs tells what a caller reads: no URL, host, key or
// text of a failure, whoever the caller is.
package batch
