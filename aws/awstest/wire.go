package awstest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// wire writes values of the AWS SDK, such as ec2.DescribeSubnetsOutput, in the XML of EC2 and IAM:
// an element for each field that is set.
type wire struct {
	bytes.Buffer
	// name returns the element of a field; item is the element of the items of a list.
	name func(t reflect.Type, field string) string
	item string
}

// ec2Names maps fields of the SDK to the names of EC2's elements, where these are not just the
// field name with a small first letter. A key that includes a type holds for that type only.
func ec2Names() map[string]string {
	return map[string]string{
		"Tags": "tagSet",

		"CreateFleetOutput.Errors":                                  "errorSet",
		"CreateFleetOutput.Instances":                               "fleetInstanceSet",
		"DescribeAvailabilityZonesOutput.AvailabilityZones":         "availabilityZoneInfo",
		"AvailabilityZone.State":                                    "zoneState",
		"DescribeCapacityReservationsOutput.CapacityReservations":   "capacityReservationSet",
		"DescribeImagesOutput.Images":                               "imagesSet",
		"Image.OwnerId":                                             "imageOwnerId",
		"Image.Public":                                              "isPublic",
		"Image.State":                                               "imageState",
		"DescribeInstanceStatusOutput.InstanceStatuses":             "instanceStatusSet",
		"InstanceStatus.Events":                                     "eventsSet",
		"DescribeInstanceTypeOfferingsOutput.InstanceTypeOfferings": "instanceTypeOfferingSet",
		"DescribeInstanceTypesOutput.InstanceTypes":                 "instanceTypeSet",
		"DescribeInstancesOutput.Reservations":                      "reservationSet",
		"Reservation.Instances":                                     "instancesSet",
		"Instance.NetworkInterfaces":                                "networkInterfaceSet",
		"Instance.SecurityGroups":                                   "groupSet",
		"Instance.State":                                            "instanceState",
		"InstanceNetworkInterface.Groups":                           "groupSet",
		"DescribePlacementGroupsOutput.PlacementGroups":             "placementGroupSet",
		"DescribeSecurityGroupsOutput.SecurityGroups":               "securityGroupInfo",
		"SecurityGroup.Description":                                 "groupDescription",
		"DescribeSpotPriceHistoryOutput.SpotPriceHistory":           "spotPriceHistorySet",
		"DescribeSubnetsOutput.Subnets":                             "subnetSet",
		"TerminateInstancesOutput.TerminatingInstances":             "instancesSet",
	}
}

func ec2Wire() *wire {
	names := ec2Names()
	return &wire{item: "item", name: func(t reflect.Type, field string) string {
		for _, key := range []string{t.Name() + "." + field, field} {
			if name, ok := names[key]; ok {
				return name
			}
		}
		return strings.ToLower(field[:1]) + field[1:]
	}}
}

// iamWire returns the wire format of IAM, whose elements have the names of the fields.
func iamWire() *wire {
	return &wire{item: "member", name: func(_ reflect.Type, field string) string { return field }}
}

// element writes a value as an element, unless it is a nil pointer, an empty list, or an empty text
// in a field that is not a pointer.
func (w *wire) element(name string, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if !v.IsNil() {
			w.wrap(name, func() { w.content(v.Elem()) })
		}
		return
	}
	switch v.Kind() {
	case reflect.Slice, reflect.String:
		if v.Len() == 0 {
			return
		}
	}
	w.wrap(name, func() { w.content(v) })
}

func (w *wire) wrap(name string, content func()) {
	w.WriteString("<" + name + ">")
	content()
	w.WriteString("</" + name + ">")
}

func (w *wire) text(s string) { _ = xml.EscapeText(w, []byte(s)) } // writing to a buffer never fails

func (w *wire) content(v reflect.Value) {
	if at, ok := v.Interface().(time.Time); ok {
		w.text(at.UTC().Format(timeFormat))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		w.fields(v)
	case reflect.Slice:
		item := w.item
		if v.Type().Elem().Name() == "InferenceDeviceInfo" {
			item = "member" // one of EC2's lists is as those of IAM
		}
		for i := range v.Len() {
			w.wrap(item, func() { w.content(v.Index(i)) })
		}
	case reflect.Float64:
		w.text(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	default:
		w.text(fmt.Sprint(v.Interface()))
	}
}

// fields writes the fields of a struct, except the SDK's metadata.
func (w *wire) fields(v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Name != "ResultMetadata" {
			w.element(w.name(v.Type(), f.Name), v.Field(i))
		}
	}
}

// ec2Body returns the XML of EC2's answer to an action: of answer, which points to a struct, or of
// the fault f if that is not nil.
func ec2Body(action string, answer any, f *fault) []byte {
	w := ec2Wire()
	w.WriteString(xml.Header)
	if f != nil {
		w.wrap("Response", func() {
			w.wrap("Errors", func() { w.wrap("Error", func() { w.coded(f) }) })
			w.wrap("RequestID", func() { w.text(requestID) })
		})
		return w.Bytes()
	}
	w.WriteString("<" + action + `Response xmlns="` + ec2Namespace + `">`)
	w.fields(reflect.ValueOf(answer).Elem())
	w.WriteString("</" + action + "Response>")
	return w.Bytes()
}

// iamBody returns IAM's answer to an action.
func iamBody(action string, answer any, f *fault) []byte {
	w := iamWire()
	w.WriteString(xml.Header)
	if f != nil {
		kind := "Sender"
		if f.status >= 500 {
			kind = "Receiver"
		}
		w.WriteString(`<ErrorResponse xmlns="` + iamNamespace + `">`)
		w.wrap("Error", func() { w.wrap("Type", func() { w.text(kind) }); w.coded(f) })
		w.wrap("RequestId", func() { w.text(requestID) })
		w.WriteString("</ErrorResponse>")
		return w.Bytes()
	}
	w.WriteString("<" + action + `Response xmlns="` + iamNamespace + `">`)
	w.wrap(action+"Result", func() { w.fields(reflect.ValueOf(answer).Elem()) })
	w.wrap("ResponseMetadata", func() { w.wrap("RequestId", func() { w.text(requestID) }) })
	w.WriteString("</" + action + "Response>")
	return w.Bytes()
}

func (w *wire) coded(f *fault) {
	w.wrap("Code", func() { w.text(f.code) })
	w.wrap("Message", func() { w.text(f.message) })
}

// iamVersion is the API version in requests to IAM. It distinguishes them from requests to EC2.
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
	_, _ = w.Write(body) // the client may have disconnected
}
