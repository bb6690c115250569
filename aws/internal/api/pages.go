package api

import (
	"context"
	"fmt"
)

// maxPages bounds an answer, so that an API that always promises another page does
// not keep a caller for ever. At the page sizes in use it is beyond anything that
// a region has.
const maxPages = 5000

// Pages reads all pages of a paginator of the SDK: as long as more says that there
// is one, next reads it and each takes it. The caller holds one page at a time. It
// ends with the error of next, or of a ctx that is done; an answer that was not
// read to its end is always an error.
func Pages[P any](ctx context.Context, more func() bool, next func(context.Context) (P, error), each func(P)) error {
	for n := 0; more(); n++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n == maxPages {
			return fmt.Errorf("the answer does not end after %d pages; something between here and AWS repeats it", maxPages)
		}
		page, err := next(ctx)
		if err != nil {
			return err
		}
		each(page)
	}
	return nil
}
