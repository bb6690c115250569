package main

import "sync"

// atOnce is the number of background calls that run at the same time. A cloud that joins the requests
// of one moment sees that many together.
const atOnce = 128

// background runs calls of the cloud in goroutines, so that no pass waits for them. At any time at
// most one call with a key runs. The zero value has none.
type background struct {
	mu    sync.Mutex
	busy  map[string]bool
	after []func()
	wait  sync.WaitGroup
	slots chan struct{}
}

// start calls do in a goroutine, unless a call with the key is running. The next pass begins by
// calling the function that do returns, if it is not nil.
func (b *background) start(key string, do func() (after func())) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy[key] {
		return
	}
	if b.busy == nil {
		b.busy, b.slots = map[string]bool{}, make(chan struct{}, atOnce)
	}
	b.busy[key] = true
	b.wait.Go(func() {
		b.slots <- struct{}{}
		after := do()
		<-b.slots
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.busy, key)
		if after != nil {
			b.after = append(b.after, after)
		}
	})
}

func (b *background) running(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.busy[key]
}

// finish calls the functions that calls have returned since the last pass.
func (b *background) finish() {
	b.mu.Lock()
	after := b.after
	b.after = nil
	b.mu.Unlock()
	for _, do := range after {
		do()
	}
}
