// Package dcache is the one SQLite store of a sift. It alone opens the
// database; everything that must outlive a request goes through it.
//
// Open makes the folder (0700) and sift.db in it (0600). Several processes may
// have the same folder open at once, such as a sift fetch beside a server;
// what only one of them may do is guarded by LockServer. The folder must be on
// a local disk.
//
//	db, err := dcache.Open(ctx, dcache.Config{Dir: dir, MaxBytes: 512 << 20})
//	…
//	go db.Run(ctx) // noted last-use times, eviction, checkpoints
//	err = db.Put(ctx, entry)
//	entry, ok, err := db.Latest(ctx, caller.Class, key)
//
// A Put that returned nil is on disk: a crash or a kill -9 after it loses
// nothing. A Latest, BySnapshot or Values writes nothing: that something was
// used is noted in memory and written with the next Put, the next turn of Run, or
// Close. A process that is killed loses a few seconds of such notes, which
// costs at most a worse choice of what to evict.
//
// There are four caches. Each has a budget of its own in Config; what was used
// least recently in it goes first, and none ever makes room in another.
//
//   - Copies of pages: Put, Latest.
//   - Copies that were recovered from elsewhere, such as an archive: Put of an
//     entry that says so, LatestRecovered. Latest never gives one of them. By its
//     snapshot each copy is found, of either kind.
//   - Digests and embeddings, which are small and come many at once: PutValues
//     and Values, with CacheDigest or CacheEmbed. A call of either is one
//     statement or one durable commit, however many there are; a key is what the
//     value was made from, and is in the file as a hash only.
//
// All of them are kept apart by class: nothing is found from another one.
//
// The file stays near what is held: freed pages are used again, given
// back to the disk when many are free, and the write-ahead log is cut to
// 4 MiB whenever it was longer.
//
// DB is a batch.Store too: jobs and targets of batches are in the same file,
// by the same writer and readers. They are bounded by their own lease and
// bytes, which come with each call, and have no part in the budgets of Config; all
// together are about what the file takes. What a method of batch.Store has
// answered with a nil error is on disk. It costs one durable commit, and none
// where nothing has changed; so a target of a batch costs two, its start and its
// end. Expired jobs are deleted by SweepJobs, which its runner calls; Run gives
// their pages back as it does those of the cache.
//
// Errors say what happened and what to do next, for the operator; tell them
// apart with errors.Is and the Err values of this package. They name the
// store's folder and never a URL or what a caller has sent.
package dcache
