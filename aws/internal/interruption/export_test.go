package interruption

// Len returns the number of messages that the ledger remembers.
func (l *Ledger) Len() int { return len(l.messages) }
