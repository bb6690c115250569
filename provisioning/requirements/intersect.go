package requirements

// Intersect returns the requirement with the key of r that admits exactly the states which r and s
// both admit. It has the greater of the two minimums of values.
//
// The key of s is ignored; Set pairs requirements by key.
//
// Intersect is commutative (except for the key), associative and idempotent. NotIn without values
// changes nothing, and an Impossible requirement stays Impossible.
func (r Requirement) Intersect(s Requirement) Requirement {
	out := Requirement{
		key:       r.key,
		present:   r.present || s.present,
		minValues: max(r.minValues, s.minValues),
	}
	switch {
	case r.shape == shapeOnly && s.shape == shapeOnly:
		out.shape = shapeOnly
		out.values = common(r.values, s.values)
	case r.shape == shapeOnly:
		out.shape = shapeOnly
		out.values = filter(r.values, s.Has)
	case s.shape == shapeOnly:
		out.shape = shapeOnly
		out.values = filter(s.values, r.Has)
	case r.shape == shapeExcept && s.shape == shapeExcept:
		out.values = union(r.values, s.values)
	default:
		out.lo, out.hi = commonInterval(r, s)
		if out.lo > out.hi {
			return impossible(r.key).WithMinValues(out.minValues)
		}
		out.shape = shapeIntegers
		// An exclusion outside the interval says nothing, and would give the
		// same set two spellings.
		out.values = filter(union(r.values, s.values), func(v string) bool {
			n, ok := parseInteger(v)
			return ok && out.lo <= n && n <= out.hi
		})
	}
	return out
}

// commonInterval intersects the intervals of two requirements of which at least
// one is an interval and the other is one too or has none.
func commonInterval(r, s Requirement) (lo, hi int64) {
	switch {
	case r.shape != shapeIntegers:
		return s.lo, s.hi
	case s.shape != shapeIntegers:
		return r.lo, r.hi
	}
	return max(r.lo, s.lo), min(r.hi, s.hi)
}

// Overlaps reports whether r and s both admit some state, which means that their intersection is
// not Impossible. Like Intersect it ignores the keys. It does not allocate.
func (r Requirement) Overlaps(s Requirement) bool {
	if !r.present && !s.present {
		return true
	}
	switch {
	case r.shape == shapeOnly && s.shape == shapeOnly:
		return shareValue(r.values, s.values)
	case r.shape == shapeOnly:
		return s.hasAny(r.values)
	case s.shape == shapeOnly:
		return r.hasAny(s.values)
	case r.shape == shapeIntegers && s.shape == shapeIntegers:
		return max(r.lo, s.lo) <= min(r.hi, s.hi)
	}
	// Exclusions are finite in number and never exhaust what is left: an
	// integer has any number of spellings, and so have the strings.
	return true
}

func (r Requirement) hasAny(values []string) bool {
	for _, v := range values {
		if r.Has(v) {
			return true
		}
	}
	return false
}
