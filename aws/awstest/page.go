package awstest

import (
	"cmp"
	"encoding/base64"
	"strings"
)

// pageOf cuts the page out of a list, whose keys rise, that begins behind a token.
// It returns the token of the next page, if there is one. least and most are what
// MaxResults may be; usual is how many there are without it.
func pageOf[T any](c *Cloud, q *request, list []T, key func(T) string, least, most, usual int) ([]T, *string, *fault) {
	size, asked := q.form.num("MaxResults")
	if !asked {
		size = usual
	} else if size < least || size > most {
		return nil, nil, invalid("Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", size, least, most)
	}
	return cut(c, q, list, key, size, q.form.str("NextToken"))
}

// cut cuts out a page of at most size.
func cut[T any](c *Cloud, q *request, list []T, key func(T) string, size int, token string) ([]T, *string, *fault) {
	if most := cmp.Or(c.opts.PageSizes[q.action], c.opts.PageSize); most > 0 {
		size = min(size, most)
	}
	if token != "" {
		data, err := base64.StdEncoding.DecodeString(token)
		after, ok := strings.CutPrefix(string(data), "after:")
		if err != nil || !ok {
			return nil, nil, failure("InvalidNextToken", "The token '%s' is invalid", token)
		}
		first := 0
		for first < len(list) && key(list[first]) <= after {
			first++
		}
		list = list[first:]
	}
	if len(list) <= size {
		return list, nil, nil
	}
	next := base64.StdEncoding.EncodeToString([]byte("after:" + key(list[size-1])))
	return list[:size], &next, nil
}
