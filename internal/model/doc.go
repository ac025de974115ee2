// Package model answers questions with the help of models that speak the
// OpenAI-compatible interface: one for embeddings, which finds passages that
// share no word with the question, and one for chat, which writes an answer from
// the passages. Either may be missing, and whatever they do, an answer comes
// back: what fails is left out, and a warning says so.
//
//	m, err := model.New(model.Config{
//		EmbeddingsURL: "https://models.example/v1", EmbeddingsModel: "small",
//		ChatURL: "https://models.example/v1", ChatModel: "large",
//		Key: model.NewKey(key), Cache: cache,
//	})
//	defer m.Close()
//	d, warnings, err := m.Digest(ctx, model.Ask{Class: class, Text: text, Question: "How long are backups kept?"})
//
// # Embeddings
//
// The passages of the content, up to 512, and the question become vectors. The
// ranking by words and the ranking by cosine similarity are made one by reciprocal
// rank fusion, and the method of the digest is hybrid. Whether the question is
// answered is decided by both: see fuse.go.
//
// # Chat
//
// The model gets the best passages, numbered, and the question, as JSON. It
// writes sentences that each name the passages that they rest on. Nothing of that
// is taken on trust: a sentence is left out that cites nothing or what does not
// exist; that quotes what does not stand in a passage cited; that has a number, a
// date, a name of code or an address that does not; or of which one clause is about
// something else, or directs its reader where the passage does not. When more than
// a third of the sentences go that way, so does the answer. The method of the digest
// is llm, and its passages are those that are cited.
//
// What a page says is data: it is never part of the instructions, and no tool is
// offered. docs/question.md says what a page can still make of an answer.
//
// # Bounds
//
// The models get 70 % of the time that is left until the deadline of the context,
// and the rest is for the answer without them. Requests have a timeout each, so
// many run at once over all questions, and an endpoint that asks to be left alone,
// or has failed three times in a row, is left alone for a while. Redirects, cookies
// and proxies of the environment are not used. Answers are bounded in size.
//
// # Cache
//
// Vectors and answers are kept by the class of the caller, so that no class can
// learn what another has asked. A cache that fails is no failure of a question.
package model
