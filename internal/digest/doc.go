// Package digest finds the passages of a content that answer a question, and
// says so when none does. It needs no model. It is pure: what it is given is all
// that it reads, and the deadline of the context is the only clock.
//
// # Passages
//
// A content is cut along its structure. A passage stands under one heading and,
// in a PDF, on one page. Short paragraphs are joined to about 600 characters; one
// of more than 1,000 is cut between sentences. A list goes with the paragraph that
// introduces it, and so does code. A table is cut between its rows, code not at
// all. Only what is longer than any passage may be, 2,000 characters or the whole
// budget, is cut elsewhere: code at a blank line or a line, a row or a sentence
// at a word, and what has no words between two characters as a reader sees them.
// A heading with nothing under it is a passage by itself.
//
// A passage is content[start:end], counted in characters, to the letter.
//
// # Ranking
//
// Passages are ranked by BM25F over those of this one content: the words of the
// passage, those of the headings above it, and those of the header row or the
// introduction that it does not begin with. On top of that it counts which share
// of the question a passage has, how near to each other the words stand, and
// what the passages around it have.
//
// Words are compared by their stems, in the language that the document is in (as
// it says, unless its words say otherwise) and in that of the question. Names of
// code, versions, numbers, paths and addresses are compared as a whole and by
// their parts: MaxBytesReader, snake_case, net/http, v1.2.3, --dry-run. Chinese,
// Japanese, Korean, Thai and the like are compared by pairs of characters. Stop
// words are left out, except between quotation marks or backticks.
//
// What stands in quotation marks in the question has to stand in the passage, or
// in a heading above it, word by word.
//
// Of two questions in one, each gets its best passage.
//
// RankAll also gives passages that share no word with the question, for another
// measure to rank, and DigestOf picks in the order that comes of it.
//
// # Nothing
//
// When no passage has enough of the question, the list of passages is empty and
// the answer says so, with the words that are not on the page. Where enough is was
// set on half of testdata/questions; docs/question.md has the figures.
//
// # Bounds
//
// A question has at most 1,000 characters. Time is linear in the size of the
// content, about 40 ms for a megabyte, and the context is looked at every
// 64 KiB. Memory is a few bytes for each passage that has a word of the question
// (RankAll: for each passage), at most 16 for each byte of a content made for it.
package digest
