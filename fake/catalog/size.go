package catalog

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is one size of a family, with the defaults of familyTable filled in.
type size struct {
	name      string  // as after the dot of the type: 2xlarge
	vcpus     int     // above zero
	memoryMiB int64   // above zero
	devices   float64 // of the family's device, if it has one; below one is a share
	price     int64   // on demand, in 1e-9 USD an hour
}

// nanos a dollar.
const nanos = 1_000_000_000

// The marks that set apart what a size carries, in the order they stand.
const (
	markVCPUs   = ':'
	markMemory  = '~'
	markDevices = '*'
	markPrice   = '='
	marks       = string(markVCPUs) + string(markMemory) + string(markDevices) + string(markPrice)
)

// parseSizes reads the column sizes of a family with so many GiB a vCPU and
// such a price for two vCPUs; either is zero if each size carries its own.
func parseSizes(words []string, gib float64, pairPrice int64) ([]size, error) {
	out := make([]size, 0, len(words))
	var errs []error
	largest := 0
	for _, word := range words {
		s, err := parseSize(word, largest, gib, pairPrice)
		if err != nil {
			errs = append(errs, fmt.Errorf("size %q: %w", word, err))
			continue
		}
		largest = max(largest, s.vcpus)
		out = append(out, s)
	}
	if len(words) == 0 {
		errs = append(errs, errors.New("there are no sizes"))
	}
	return out, errors.Join(errs...)
}

func parseSize(word string, largest int, gib float64, pairPrice int64) (size, error) {
	name, rest := word, ""
	if i := strings.IndexAny(word, marks); i >= 0 {
		name, rest = word[:i], word[i:]
	}
	if count, isX := strings.CutSuffix(name, "x"); isX && (count == "" || isNumber(count)) {
		name += "large"
	}
	s := size{name: name, vcpus: defaultVCPUs(name, largest), devices: 1}
	memoryGiB, price := 0.0, int64(0)
	for rest != "" {
		mark, value := rest[0], rest[1:]
		rest = ""
		if i := strings.IndexAny(value, marks); i >= 0 {
			value, rest = value[:i], value[i:]
		}
		var err error
		switch mark {
		case markVCPUs:
			s.vcpus, err = strconv.Atoi(value)
		case markMemory:
			memoryGiB, err = parsePositive(value)
		case markDevices:
			s.devices, err = parseShare(value)
		default:
			price, err = parseDollars(value)
		}
		if err != nil {
			return size{}, fmt.Errorf("%c%s is not understood", mark, value)
		}
	}
	if s.vcpus <= 0 {
		return size{}, errors.New("how many vCPUs it has is not known; add :NUMBER")
	}
	if memoryGiB == 0 {
		memoryGiB = gib * float64(s.vcpus)
	}
	if price == 0 {
		price = linearPrice(pairPrice, s.vcpus)
	}
	s.memoryMiB, s.price = int64(memoryGiB*1024), price
	if s.memoryMiB <= 0 || s.price <= 0 {
		return size{}, errors.New("it has no memory or no price; add ~GIB or =USD, or give them to the family")
	}
	return s, nil
}

// linearPrice is the price of so many vCPUs, rounded to 1e-5 USD as in price
// lists.
func linearPrice(pairPrice int64, vcpus int) int64 {
	const step = nanos / 100_000
	price := pairPrice * int64(vcpus) / 2
	return (price + step/2) / step * step
}

// defaultVCPUs knows how many vCPUs the name of a size stands for, and is zero
// for the names that stand for none. Metal without a number is the machine that
// the largest size fills.
func defaultVCPUs(name string, largest int) int {
	switch name {
	case "medium":
		return 1
	case "large":
		return 2
	case "xlarge":
		return 4
	case "metal":
		return largest
	}
	count, isX := strings.CutSuffix(name, "xlarge")
	if !isX {
		count = strings.TrimSuffix(strings.TrimPrefix(name, "metal-"), "xl")
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return 0
	}
	return 4 * n
}

// isMetal reports whether a size is a whole machine without a hypervisor.
func isMetal(size string) bool { return strings.HasPrefix(size, "metal") }

// parseDollars reads an amount of USD as nano-USD.
func parseDollars(text string) (int64, error) {
	x, err := parsePositive(text)
	return int64(math.Round(x * nanos)), err
}

func parsePositive(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x < 1e9) {
		return 0, fmt.Errorf("%q is not a number above zero", text)
	}
	return x, nil
}

// parseShare reads a count or a share such as 1/8.
func parseShare(text string) (float64, error) {
	number, of, isShare := strings.Cut(text, "/")
	n, err := parsePositive(number)
	if err != nil || !isShare {
		return n, err
	}
	d, err := parsePositive(of)
	if err != nil {
		return 0, err
	}
	return n / d, nil
}
