package api

import (
	"context"
	"fmt"
)

// maxPages bounds an answer, so that a caller returns even if an API always promises another page.
// At the page sizes in use it is more than any region needs.
const maxPages = 5000

// Paginator is a paginator of the SDK, for pages P, with options O of the client.
type Paginator[P, O any] interface {
	// HasMorePages reports whether there is another page.
	HasMorePages() bool
	// NextPage asks for it.
	NextPage(ctx context.Context, opts ...func(*O)) (P, error)
}

// Pages calls each with every page of a paginator, one at a time. It returns the error of a page,
// or that of ctx when it is done; an answer that was not read completely is always an error.
func Pages[P, O any](ctx context.Context, p Paginator[P, O], each func(P), opts ...func(*O)) error {
	for n := 0; p.HasMorePages(); n++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n == maxPages {
			return fmt.Errorf("the answer does not end after %d pages; something between here and AWS repeats it", maxPages)
		}
		page, err := p.NextPage(ctx, opts...)
		if err != nil {
			return err
		}
		each(page)
	}
	return nil
}
