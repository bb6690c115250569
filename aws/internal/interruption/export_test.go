package interruption

// Len is the number of messages that the ledger remembers.
func (l *Ledger) Len() int { return len(l.messages) }
