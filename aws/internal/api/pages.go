package api

import (
	"context"
	"fmt"
)

// maxPages bounds an answer, so that an API that always promises another page does
// not keep a caller for ever. At the page sizes in use it is beyond anything that
// a region has.
const maxPages = 5000

// Paginator is one of the SDK's, for pages P, with options O of the client.
type Paginator[P, O any] interface {
	// HasMorePages reports whether there is another page.
	HasMorePages() bool
	// NextPage asks for it.
	NextPage(ctx context.Context, opts ...func(*O)) (P, error)
}

// Pages hands all pages of a paginator to each. The caller holds one page at a time. It
// ends with the error of a page, or of a ctx that is done; an answer that was not read to
// its end is always an error.
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
