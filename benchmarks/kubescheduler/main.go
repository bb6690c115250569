// Command kubescheduler tells whether kube-scheduler's own default plugins admit pods to nodes, and
// where they would place them. It reads one [Question] per line from standard input and writes one
// [Answer] per line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(klog.Logger{})
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kubescheduler:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	oracle, err := newOracle(ctx)
	if err != nil {
		return err
	}
	reader, writer := json.NewDecoder(bufio.NewReader(in)), bufio.NewWriter(out)
	answers := json.NewEncoder(writer)
	for {
		question := &Question{}
		if err := reader.Decode(question); errors.Is(err, io.EOF) {
			return writer.Flush()
		} else if err != nil {
			return err
		}
		answer, err := oracle.answer(ctx, question)
		if err != nil {
			answer = &Answer{Error: err.Error()}
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
}
