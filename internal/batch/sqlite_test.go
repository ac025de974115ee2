//go:build !race

// The SQLite driver takes minutes to compile with -race; these run without.

package batch_test

import (
	"testing"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/dcache"
)

func TestBatchesRunOnSQLiteAsTheyDoInMemory(t *testing.T) {
	otherStore.Store(func(t *testing.T) batch.Store {
		db, err := dcache.Open(t.Context(), dcache.Config{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	})
	defer otherStore.Store((func(*testing.T) batch.Store)(nil))
	for name, flow := range map[string]func(*testing.T){
		"a job":              TestAJobIsCollectedOnceItIsDone,
		"in order":           TestTheTargetsOfAJobAreFetchedInOrderAndNeverTwoAtOnce,
		"failures":           TestOneFailureIsThatTargetsAloneAndTheJobSaysHowManyThereWere,
		"options":            TestATargetIsFetchedAsItWasSubmittedForItsCaller,
		"waiting for a slot": TestATargetThatWaitsForASlotIsNotInFlight,
		"others go on":       TestJobsThatWaitForASlotHoldUpNobody,
		"turns":              TestAJobThatWaitedForASlotHasItsTurnBetweenTheTargetsOfAnother,
		"forgotten":          TestAJobWhoseCallerIsForgottenEndsBeforeItsNextTarget,
		"forgotten, waiting": TestAJobWhoseCallerIsForgottenDoesNotWaitForASlotAnyMore,
		"a result alone":     TestAResultIsReadAlone,
		"told of a restart":  TestARestartIsToldJobByJobWithTheTargetsInFlight,
		"defaults":           TestAListWithDefaultsWrittenOutIsTheSameJob,
		"oldest first":       TestNoMoreJobsAreWorkedOnThanThereAreWorkersAndTheOldestComesFirst,
		"no room":            TestAResultForWhichNothingMakesRoomIsAFailureThatSaysSo,
		"reuse":              TestTheSameListOfTheSameCallerIsTheSameJobAndIsFetchedOnce,
		"fresh":              TestAJobThatHasFailedOrWasCancelledComesBackWithTheWayOut,
		"a caller's cap":     TestACallerWithALiveJobIsToldWhichItIs,
		"the cap in all":     TestAllCallersTogetherHaveACapThatNamesNobodysJob,
		"collecting":         TestTargetsThatWereCollectedAreLeftOut,
		"another's":          TestAnothersJobIsAsUnknownAsOneThatDoesNotExist,
		"waiting":            TestWaitingEndsWithTheNextChangeOfAJob,
		"cancel queued":      TestCancellingAQueuedJobFetchesNothing,
		"cancel waiting":     TestCancellingBreaksTheWaitForASlotAtOnce,
		"cancel in flight":   TestCancellingLetsTheTargetInFlightFinish,
		"cancel ended":       TestCancellingAJobThatHasEndedChangesNothing,
		"stop":               TestStoppingLetsTheTargetInFlightFinishAndStartsNoOther,
		"cut off":            TestATargetThatTheStopCutsOffHasNotFailed,
		"cancel and stop":    TestACancelledTargetInFlightIsCutOffByTheStopToo,
		"restart":            TestResultsSurviveARestart,
		"a clock that jumps": TestAClockThatIsSetTakesNobodysJobAway,
	} {
		t.Run(name, flow)
	}
}
