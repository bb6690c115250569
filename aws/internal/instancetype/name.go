package instancetype

import "strings"

// names are what the name of an instance type says.
type names struct {
	family, size         string
	category, generation string
}

// parseName takes a name apart. Family and size are what is before and behind the
// dot, if there is one dot. The category is the letters that the family begins
// with, and the generation the first digits behind them; a size of memory in
// between, as in u-6tb1, belongs to neither. What a name does not have is empty.
func parseName(name string) names {
	var n names
	family, size, found := strings.Cut(name, ".")
	if found && family != "" && size != "" && !strings.Contains(size, ".") {
		n.family, n.size = family, size
	}
	rest := strings.TrimLeft(family, "abcdefghijklmnopqrstuvwxyz")
	category := family[:len(family)-len(rest)]
	if memory, ok := strings.CutPrefix(rest, "-"); ok {
		if behind, ok := strings.CutPrefix(strings.TrimLeft(memory, digits), "tb"); ok && !strings.HasPrefix(memory, "tb") {
			rest = behind
		}
	}
	generation := rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
	if category != "" && generation != "" {
		n.category, n.generation = category, generation
	}
	return n
}

const digits = "0123456789"

// kebab writes a name of a device or a maker as a label value.
func kebab(text string) string { return strings.ReplaceAll(strings.ToLower(text), " ", "-") }
