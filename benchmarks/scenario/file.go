package scenario

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxDocument is the largest uncompressed document that is read, in bytes. A small compressed file
// can expand to any size.
const maxDocument = 4 << 30

// ReadScenario reads a scenario from a file and validates it.
func ReadScenario(path string) (*Scenario, error) {
	return readFile(path, DecodeScenario)
}

// ReadPlan reads a plan from a file and validates it.
func ReadPlan(path string) (*Plan, error) {
	return readFile(path, DecodePlan)
}

// DecodeScenario reads a scenario from JSON. The error joins all faults.
func DecodeScenario(data []byte) (*Scenario, error) { return decodeValid[Scenario]("scenario", data) }

// DecodePlan reads a plan from JSON. The error joins all faults.
func DecodePlan(data []byte) (*Plan, error) { return decodeValid[Plan]("plan", data) }

// decodeValid reads a document from JSON and validates it.
func decodeValid[T any, P interface {
	*T
	Validate() error
}](name string, data []byte) (P, error) {
	document := P(new(T))
	if err := decode(data, document); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := document.Validate(); err != nil {
		return nil, err
	}
	return document, nil
}

// WriteScenario writes a scenario to a file.
func WriteScenario(path string, s *Scenario) error { return writeFile(path, s) }

// WritePlan writes a plan to a file.
func WritePlan(path string, p *Plan) error { return writeFile(path, p) }

// decode reads exactly one JSON value; anything after it is an error.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("no valid JSON document: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more follows the document at byte %d; a file holds one", d.InputOffset())
	}
	return nil
}

func readFile[T any](path string, decode func([]byte) (T, error)) (T, error) {
	var none T
	data, err := os.ReadFile(path)
	if err != nil {
		return none, err
	}
	if compressed(path) {
		if data, err = unzip(data); err != nil {
			return none, fmt.Errorf("%s: %w", path, err)
		}
	}
	document, err := decode(data)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return document, nil
}

func writeFile(path string, document any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	data = append(data, '\n')
	if compressed(path) {
		if data, err = zip(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, data, 0o644)
}

func compressed(path string) bool { return strings.HasSuffix(path, ".gz") }

func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the name ends in .gz, but: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxDocument+1))
	if err == nil && len(out) > maxDocument {
		err = fmt.Errorf("unfolds to more than %d bytes", maxDocument)
	}
	return out, err
}

// zip compresses data. It leaves the header of gzip empty, so that equal documents give equal
// files.
func zip(data []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(data)
	if failed := z.Close(); err == nil {
		err = failed
	}
	return out.Bytes(), err
}
