//go:build race

package child

// raceDetector says that this build maps hundreds of megabytes for the race
// detector, which a bound on memory would count.
const raceDetector = true
