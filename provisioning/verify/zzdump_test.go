package verify_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func TestZZDump(t *testing.T) {
	out, _ := os.Create(os.Getenv("ZZOUT"))
	defer out.Close()
	counts := map[verify.Rule]int{}
	h := sha256.New()
	for seed := range uint64(700) {
		in := randproblem.Draw(seed, randproblem.Config{})
		opts := randproblem.DrawOptions(seed, randproblem.Config{})
		plan, err := provisioning.Solve(context.Background(), in, opts)
		if err != nil {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 5))
		for round := range 4 {
			p := clonePlan(plan)
			if round > 0 {
				m := &mutant{r, in, p}
				for range 1 + r.IntN(8) {
					lists := m.lists()
					if len(lists) < 2 {
						break
					}
					if from := lists[r.IntN(len(lists))]; len(*from) > 0 {
						to := lists[r.IntN(len(lists))]
						pod := (*from)[0]
						*from = append([]*corev1.Pod{}, (*from)[1:]...)
						*to = append(*to, pod)
					}
				}
				if round == 2 && len(p.Unplaced) > 0 && len(m.lists()) > 0 {
					for _, u := range p.Unplaced {
						lists := m.lists()
						to := lists[r.IntN(len(lists))]
						*to = append(*to, u.Pod)
						p.Order = append(p.Order[:len(p.Order):len(p.Order)], u.Pod)
					}
					p.Unplaced = nil
				}
				if round == 3 {
					for range 2 {
						func() { defer func() { _ = recover() }(); mutations()[r.IntN(len(mutations()))].apply(m) }()
					}
				}
			}
			for _, v := range append(verify.Plan(in, p, opts), verify.Unplaced(in, p, opts)...) {
				counts[v.Rule]++
				fmt.Fprintln(out, seed, round, v)
				fmt.Fprintln(h, seed, round, v)
			}
		}
	}
	t.Logf("%x %v", h.Sum(nil)[:8], counts)
}
