package awstest

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// iamVersion is the version in every query of IAM. That of EC2 is another.
const iamVersion = "2010-05-08"

const (
	ec2Namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"
	iamNamespace = "https://iam.amazonaws.com/doc/2010-05-08/"
	requestID    = "00000000-0000-4000-8000-000000000000"
)

// timeFormat is how AWS writes instants in XML.
const timeFormat = "2006-01-02T15:04:05.000Z"

// respond writes the answer or the fault as the service would.
func respond(w http.ResponseWriter, q *request, answer any, f *fault, o *orders) {
	status := http.StatusOK
	if f != nil {
		status = f.status
	}
	var body []byte
	switch q.service {
	case iamService:
		w.Header().Set("Content-Type", "text/xml")
		body = iamBody(q.action, answer, f)
	case ec2Service, "":
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		body = ec2Body(q.action, answer, f)
	default:
		w.Header().Set("Content-Type", jsonType(q.service))
		if f != nil {
			w.Header().Set("X-Amzn-Errortype", f.code)
			answer = map[string]string{"__type": f.code, "message": f.message}
		}
		body, _ = json.Marshal(answer) // maps, strings and numbers only
	}
	w.Header().Set("X-Amzn-Requestid", requestID)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	send(w, body, o)
}

func jsonType(service string) string {
	switch service {
	case sqsService:
		return "application/x-amz-json-1.0"
	case eksService, shiftService:
		return "application/json"
	}
	return "application/x-amz-json-1.1"
}

// send writes a body whole, in pieces, or only half of it.
func send(w http.ResponseWriter, body []byte, o *orders) {
	flush := http.NewResponseController(w).Flush
	if o.half {
		_, _ = w.Write(body[:len(body)/2])
		_ = flush()
		panic(http.ErrAbortHandler)
	}
	for o.drip > 0 && len(body) > o.drip {
		_, _ = w.Write(body[:o.drip])
		_ = flush()
		body = body[o.drip:]
	}
	_, _ = w.Write(body) // who has gone misses it
}
