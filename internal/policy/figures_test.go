package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// results is where figures come from: what make compare and make e2e-compare wrote.
const results = "benchmarks/RESULTS.md"

// A marker above a table of a Markdown file says that all cells of its rows but the first
// come from that file: those of the scenarios that it names, a row each, or of those on a
// control plane, which the first cells name.
//
//	<!-- figures: generic-5000-fake400-seed1 consolidate-100nodes-aws-seed1 -->
//	<!-- figures: control plane -->
var figuresMarker = regexp.MustCompile(`^<!-- figures: (.+) -->$`)

// checkFigures holds tables of figures against the file that has them. With -update it
// writes them.
func checkFigures(m *module) []finding {
	known, err := m.figures()
	if err != nil {
		return []finding{{file: results, message: err.Error()}}
	}
	return m.eachMarkdown(func(file string, lines []string) (found []finding, changed []string) {
		for i, line := range lines {
			w := figuresMarker.FindStringSubmatch(line)
			if w == nil {
				continue
			}
			for _, r := range figureRows(lines, i, w[1]) {
				want, ok := known[r.scenario]
				switch {
				case !ok:
					found = append(found, finding{file: file, line: r.line, subject: file, message: fmt.Sprintf("%s has no scenario %q", results, r.scenario)})
				case lines[r.line-1] != r.first+want && m.updating():
					lines[r.line-1], changed = r.first+want, lines
				case lines[r.line-1] != r.first+want:
					found = append(found, finding{file: file, line: r.line, subject: file,
						message: fmt.Sprintf("%s says%s: run \"go test ./internal/policy -update\"", results, want)})
				}
			}
		}
		return found, changed
	})
}

// figureRow is a row whose cells behind the first are figures.
type figureRow struct {
	line     int    // from 1
	first    string // the first cell, with both of its bars
	scenario string
}

// figureRows returns the rows of the table below a marker. A row for which there is no name, or
// a name without a row, has the scenario that it lacks.
func figureRows(lines []string, at int, names string) (rows []figureRow) {
	wanted := strings.Fields(names)
	plane := names == "control plane"
	for i := at + 3; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
		end := strings.Index(lines[i][1:], "|") + 2
		r := figureRow{line: i + 1, first: lines[i][:end], scenario: strings.TrimSpace(lines[i][1 : end-1])}
		if !plane {
			r.scenario = "a row more than the marker has names"
			if len(wanted) > 0 {
				r.scenario, wanted = wanted[0], wanted[1:]
			}
		}
		rows = append(rows, r)
	}
	if !plane {
		for range wanted {
			rows = append(rows, figureRow{line: at + 1, scenario: "a name more than the table has rows"})
		}
	}
	return rows
}

// figures returns the cells of each scenario, as a row of a table ends.
func (m *module) figures() (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(m.root, filepath.FromSlash(results)))
	if err != nil {
		return nil, fmt.Errorf("it cannot be read")
	}
	known := map[string]string{}
	scenario, consolidation := "", false
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if cells := strings.Split(line, "|"); len(cells) > 8 {
			planeFigures(known, cells)
			continue
		}
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if strings.Contains(fields[0], "-seed") {
			scenario, consolidation, rows = fields[0], strings.HasPrefix(fields[0], "consolidate-"), map[string][]string{}
			continue
		}
		if len(fields) < 7 || scenario == "" || seconds(fields[2]) < 0 {
			continue
		}
		rows[fields[0]] = fields
		if fields[0] == "karpenter" {
			known[scenario] = paperFigures(rows, consolidation)
		}
	}
	return known, nil
}

// paperFigures returns the times of all and the costs as a share of Karpenter's.
func paperFigures(rows map[string][]string, consolidation bool) string {
	time := 1
	if consolidation {
		time = 2
	}
	own, quick, other := rows["dovetail"], rows["quick"], rows["karpenter"]
	share := func(row []string) string { return fmt.Sprintf("%.0f%%", 100*seconds(row[6])/seconds(other[6])) }
	if own == nil {
		return " no row of dovetail |"
	}
	cells := []string{duration(own[time]), "", duration(other[time]), share(own)}
	if quick != nil {
		cells[1], cells[3] = duration(quick[time]), cells[3]+", quick "+share(quick)
	}
	if consolidation && other[len(other)-1] == "quiet" { // "not quiet"
		cells[2] += ", not at its end"
	}
	return strings.ReplaceAll(" "+strings.Join(cells, " | ")+" |", "|  |", "| |")
}

// planeFigures takes in a row of the table of scenarios on a control plane:
// scenario, contender, planned, nodes, most, USD/h, seconds.
func planeFigures(known map[string]string, cells []string) {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	cost, err := strconv.ParseFloat(cells[6], 64)
	if err != nil {
		return
	}
	text := cells[4] + " nodes"
	if cells[5] != cells[4] {
		text += " (" + cells[5] + " at most)"
	}
	known[cells[1]] += fmt.Sprintf(" %s, %.2f USD/h, %s s |", text, cost, cells[7])
}

// seconds returns a number, or below zero if a text is none.
func seconds(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return -1
	}
	return n
}

// duration returns a number of seconds with two digits that count, of ten seconds or more with
// all before the point.
func duration(text string) string {
	switch s := seconds(text); {
	case s >= 10:
		return fmt.Sprintf("%.0f s", s)
	case s >= 1:
		return fmt.Sprintf("%.1f s", s)
	case s >= 0.1:
		return fmt.Sprintf("%.2f s", s)
	case s >= 0.01:
		return fmt.Sprintf("%.0f ms", 1000*s)
	default:
		return fmt.Sprintf("%.1f ms", 1000*s)
	}
}
