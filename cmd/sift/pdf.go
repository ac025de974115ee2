package main

import (
	"context"
	"strings"

	"sift.build/sift/internal/sift"
)

// maxPassword bounds a file with a password, in bytes. The longest that a PDF
// can have are 127.
const maxPassword = 1 << 10

// pdfOptions reads what --pages and --password-file say. A password is not
// taken from the command line itself, which every process of the host can see.
func (p *program) pdfOptions(ctx context.Context, pages, passwordFile string) (sift.PageRanges, string, error) {
	choice, err := sift.ParsePages(pages)
	if err != nil {
		return nil, "", usagef("--pages %q: %s", pages, sift.AsFailure(err).Message)
	}
	if passwordFile == "" {
		return choice, "", nil
	}
	b, err := p.readFile(ctx, passwordFile, maxPassword)
	if err != nil {
		return nil, "", err
	}
	if len(b) > maxPassword {
		return nil, "", usagef("--password-file %s is longer than %d bytes", passwordFile, maxPassword)
	}
	// An editor ends the line; a password may begin and end with spaces.
	password := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	return choice, password, nil
}
