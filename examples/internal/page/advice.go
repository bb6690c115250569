package page

import (
	"fmt"
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/report"
)

// mostPrices is the largest number of prices in a picture.
const mostPrices = 10

// Advice returns the page about the prices of constraints; hints say how to see more.
func Advice(r *report.Advice, found *advice.Report, hints report.Hints) Page {
	p := Page{Title: "What the constraints of " + layout.Count(found.Pods, "pod") + " cost", Lead: []string{r.Lead()}, Below: "In words",
		Key: [][2]string{
			{layout.USD(found.Cost, 4), "USD/h, planned from empty"},
			{layout.USD(found.LowerBound, 4), "USD/h that no plan is below"},
			{fmt.Sprint(found.Nodes), "nodes"},
			{fmt.Sprint(len(found.Unplaced)), "pods without a place"},
		},
		Tables: []Table{{Title: "What is requested", Head: []string{"with half of the request", "for", "pods", "USD/h less", "for one"}, Rows: r.RequestRows()}}}
	p.prices("Constraints", "USD per hour less without each (below zero: more), and what it would be between the best plans", found.Prices)
	p.prices("Pairs of constraints", "USD per hour less without both", found.Pairs)
	p.prices("Requests", "USD per hour less with half of the request", found.Requests)
	for _, text := range r.Lines(&report.Options{Hints: hints}) {
		p.Log = append(p.Log, Entry{Text: text})
	}
	return p
}

// prices adds a picture of prices, if there are any.
func (p *Page) prices(title, about string, list []advice.Price) {
	if len(list) == 0 {
		return
	}
	bars := &Bars{Caption: Caption{title, about}, Series: [][2]string{{"a"}}}
	for _, x := range list[:min(len(list), mostPrices)] {
		var names []string
		for _, c := range x.Constraints {
			names = append(names, c.String())
		}
		text := layout.USD(x.Saves, 4)
		if len(x.Placed) > 0 {
			text = fmt.Sprintf("+%s, %s", layout.Count(len(x.Placed), "pod"), text)
		}
		bars.Bars = append(bars.Bars, Bar{Label: strings.Join(names, " and "), Values: []float64{x.Saves}, Text: text, Low: x.AtLeast, High: x.AtMost})
	}
	p.Figures = append(p.Figures, bars)
}
