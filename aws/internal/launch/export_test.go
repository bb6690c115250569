package launch

import "time"

// Free is how many addresses a subnet is taken to have left, zero for one that is full.
func (l *Addresses) Free(now time.Time, s Subnet) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(now)
	if l.isFull(s) {
		return 0
	}
	return l.free(s)
}
