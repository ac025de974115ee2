package digest

// CheckQuestion finds what Extract refuses whatever the content is: a question
// that is empty, too long, or without a word to look for. The error is a Failure
// with code invalid.
func CheckQuestion(question string) error {
	_, err := parseQuestion(question, "", "")
	return err
}
