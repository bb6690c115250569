package batcher_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
)

func Example() {
	states := map[string]string{"i-1": "running", "i-2": "stopped"}
	describe := batcher.Distinct(
		func(_ context.Context, region string, ids []string) (map[string]string, error) {
			fmt.Println("one call to", region, "for", len(ids), "ids")
			return states, nil
		},
		func(region, id string) error { return fmt.Errorf("%s: no instance %s", region, id) },
	)
	instances, err := batcher.New(describe, &batcher.Options{
		AfterFunc: func(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) },
		Idle:      time.Hour, Max: time.Hour, // the batch goes by its size alone
		MaxItems: 4,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]string{}
	for _, caller := range []string{"1:i-1", "2:i-2", "3:i-1", "4:i-9"} {
		wait.Go(func() {
			answer, err := instances.Do(context.Background(), "eu-west-1", caller[2:])
			if err != nil {
				answer = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			answers[caller] = answer
		})
	}
	wait.Wait()
	for _, caller := range slices.Sorted(maps.Keys(answers)) {
		fmt.Println(caller, answers[caller])
	}
	fmt.Println(instances.Close(context.Background()))
	// Output:
	// one call to eu-west-1 for 3 ids
	// 1:i-1 running
	// 2:i-2 stopped
	// 3:i-1 running
	// 4:i-9 eu-west-1: no instance i-9
	// <nil>
}

func ExampleDistinct() {
	terminate := batcher.Distinct(
		func(_ context.Context, _ struct{}, ids []string) (map[string]struct{}, error) {
			fmt.Println("terminate", ids)
			return map[string]struct{}{"i-1": {}}, nil
		},
		nil,
	)
	outcomes, _ := terminate(context.Background(), struct{}{}, []string{"i-1", "i-2", "i-1"})
	for _, o := range outcomes {
		fmt.Println(o.Err)
	}
	// Output:
	// terminate [i-1 i-2]
	// <nil>
	// i-2: not in the answer
	// <nil>
}

func ExampleGroup_Do() {
	shout, _ := batcher.New(
		func(_ context.Context, _ string, items []string) ([]batcher.Outcome[string], error) {
			outcomes := make([]batcher.Outcome[string], len(items))
			for i, item := range items {
				outcomes[i].Result = item + "!"
			}
			return outcomes, nil
		},
		&batcher.Options{
			AfterFunc: func(d time.Duration, f func()) batcher.Timer { return time.AfterFunc(d, f) },
			MaxItems:  1,
		},
	)
	fmt.Println(shout.Do(context.Background(), "key", "hello"))
	// Output:
	// hello! <nil>
}
