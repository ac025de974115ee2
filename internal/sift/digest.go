package sift

// Digest is what a content says to a question. With no passages nothing in it
// answers the question, and Answer says so.
type Digest struct {
	Question string       `json:"question"`
	Method   DigestMethod `json:"method"`
	Answer   string       `json:"answer"`   // see DigestMethod
	Passages []Passage    `json:"passages"` // in the order of the content; never null
}

// DigestMethod says how a Digest came about.
type DigestMethod string

// The methods.
const (
	// DigestExtractive needs no model. The answer is, of the best passage, the
	// sentence that has most of the question, to the letter; a line for each
	// question in one.
	DigestExtractive DigestMethod = "extractive"

	// DigestHybrid is the same with a ranking that embeddings had their say in.
	DigestHybrid DigestMethod = "hybrid"

	// DigestLLM has an answer that a model wrote from the passages. Each of its
	// sentences names the passages that it rests on, as [1] or [1][3].
	DigestLLM DigestMethod = "llm"
)

// DigestMethods lists every method, in the order of SPEC section 4.
func DigestMethods() []DigestMethod {
	return []DigestMethod{DigestExtractive, DigestHybrid, DigestLLM}
}

// Passage is a part of the content: the characters from Start to End are Text.
type Passage struct {
	N       int     `json:"n"` // from 1
	Text    string  `json:"text"`
	Heading string  `json:"heading"`        // the headings it stands under, "A > B"
	Page    int     `json:"page,omitempty"` // of a PDF
	Start   int     `json:"start"`
	End     int     `json:"end"`
	Score   float64 `json:"score"` // 0 to about 1; only the order of those of one question means something
}
