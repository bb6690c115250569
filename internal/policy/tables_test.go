package policy

import (
	"fmt"
	"regexp"
	"strings"
)

// delimiterRow is the line below the titles of a table in Markdown.
var delimiterRow = regexp.MustCompile(`^\|?[ :|-]*---[ :|-]*$`)

// checkTables finds rows of tables in Markdown that have another number of cells than the
// table has columns: a page shows those cells in the wrong column, or not at all.
func checkTables(m *module) []finding {
	return m.eachMarkdown(func(file string, lines []string) (found []finding, _ []string) {
		columns, fenced := 0, false
		for i, line := range lines {
			switch {
			case strings.HasPrefix(strings.TrimSpace(line), "```"):
				fenced, columns = !fenced, 0
			case fenced || !strings.HasPrefix(line, "|"):
				columns = 0
			case columns == 0 && i+1 < len(lines) && delimiterRow.MatchString(lines[i+1]):
				columns = cells(line)
				fallthrough
			case columns > 0:
				if n := cells(line); n != columns {
					found = append(found, finding{file: file, line: i + 1, subject: file,
						message: fmt.Sprintf("this row has %d cells, and the table %d columns; write | within a cell as \\|", n, columns)})
				}
			}
		}
		return found, nil
	})
}

// cells is how many cells a row has. A bar after a backslash is a letter like others, also
// within code.
func cells(line string) int {
	line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, "")
	return strings.Count(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|") + 1
}
