//go:build !race

package child

const raceDetector = false
