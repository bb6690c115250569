package awstest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
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

type ec2Error struct {
	XMLName xml.Name `xml:"Response"`
	Errors  struct {
		Error struct {
			Code    string `xml:"Code"`
			Message string `xml:"Message"`
		} `xml:"Error"`
	} `xml:"Errors"`
	RequestID string `xml:"RequestID"`
}

func ec2Body(action string, answer any, f *fault) []byte {
	if f != nil {
		e := ec2Error{RequestID: requestID}
		e.Errors.Error.Code, e.Errors.Error.Message = f.code, f.message
		return encode(e, xml.StartElement{Name: xml.Name{Local: "Response"}})
	}
	return encode(answer, xml.StartElement{Name: xml.Name{Local: action + "Response", Space: ec2Namespace}})
}

type iamError struct {
	Type    string `xml:"Error>Type"`
	Code    string `xml:"Error>Code"`
	Message string `xml:"Error>Message"`
	ID      string `xml:"RequestId"`
}

type iamAnswer struct {
	Result namedResult
	ID     string `xml:"ResponseMetadata>RequestId"`
}

// namedResult is an answer within an element of the action's name.
type namedResult struct {
	action string
	answer any
}

// MarshalXML writes the element.
func (r namedResult) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	start.Name.Local = r.action + "Result"
	return e.EncodeElement(r.answer, start)
}

func iamBody(action string, answer any, f *fault) []byte {
	if f != nil {
		kind := "Sender"
		if f.status >= http.StatusInternalServerError {
			kind = "Receiver"
		}
		return encode(iamError{kind, f.code, f.message, requestID}, xml.StartElement{Name: xml.Name{Local: "ErrorResponse", Space: iamNamespace}})
	}
	return encode(iamAnswer{namedResult{action, answer}, requestID}, xml.StartElement{Name: xml.Name{Local: action + "Response", Space: iamNamespace}})
}

// encode writes XML. What the handlers return can always be written.
func encode(v any, start xml.StartElement) []byte {
	b := bytes.NewBufferString(xml.Header)
	if err := xml.NewEncoder(b).EncodeElement(v, start); err != nil {
		return []byte("<Response><Errors><Error><Code>InternalError</Code><Message>" + err.Error() + "</Message></Error></Errors></Response>")
	}
	return b.Bytes()
}
