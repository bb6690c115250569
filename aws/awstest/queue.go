package awstest

import (
	"crypto/md5" // SQS sends it with every message
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// message is a message of the queue.
type message struct {
	id, body, receipt string
	sent              time.Time
	hiddenUntil       time.Time
	received          int
}

// retention is how long a message stays.
const retention = 300 * time.Second

// Send puts a message into the queue, as it is, and returns its ID.
func (c *Cloud) Send(body string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.send(body)
}

func (c *Cloud) send(body string) string {
	m := &message{id: c.id("message"), body: body, sent: c.now}
	c.messages = append(c.messages, m)
	return m.id
}

// Queued returns how many messages the queue has, including messages that were received and not
// deleted. The queue drops a message after five minutes.
func (c *Cloud) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropOld()
	return len(c.messages)
}

func (c *Cloud) dropOld() {
	c.messages = slices.DeleteFunc(c.messages, func(m *message) bool { return !c.now.Before(m.sent.Add(retention)) })
}

func (c *Cloud) queuePath() string { return "/" + c.opts.Account + "/" + c.opts.Queue }

func noQueue() *fault {
	return &fault{"com.amazonaws.sqs#QueueDoesNotExist", "The specified queue does not exist.", 400}
}

func (c *Cloud) getQueueURL(q *request) (any, *fault) {
	if q.str("QueueName") != c.opts.Queue {
		return nil, noQueue()
	}
	return map[string]any{"QueueUrl": "http://" + q.host + c.queuePath()}, nil
}

// receiveMessage hands out messages that are not hidden, the oldest first, and
// hides them. It never waits.
func (c *Cloud) receiveMessage(q *request) (any, *fault) {
	if err := c.checkQueue(q); err != nil {
		return nil, err
	}
	n, wait := q.num("MaxNumberOfMessages", 1), q.num("WaitTimeSeconds", 0)
	if n < 1 || n > 10 || wait < 0 || wait > 20 {
		return nil, invalid("MaxNumberOfMessages is %d, which must be between 1 and 10, WaitTimeSeconds is %d, which must be between 0 and 20", n, wait)
	}
	c.dropOld()
	hide := time.Duration(q.num("VisibilityTimeout", 30)) * time.Second
	list := []map[string]any{}
	for _, m := range c.messages {
		if len(list) == n {
			break
		}
		if c.now.Before(m.hiddenUntil) {
			continue
		}
		m.received++
		m.hiddenUntil = c.now.Add(hide)
		m.receipt = fmt.Sprintf("%s#%d", m.id, m.received)
		sum := md5.Sum([]byte(m.body))
		list = append(list, map[string]any{
			"MessageId": m.id, "ReceiptHandle": m.receipt, "Body": m.body, "MD5OfBody": hex.EncodeToString(sum[:]),
			"Attributes": map[string]string{
				"SentTimestamp": strconv.FormatInt(m.sent.UnixMilli(), 10), "ApproximateReceiveCount": strconv.Itoa(m.received),
			},
		})
	}
	return map[string]any{"Messages": list}, nil
}

func (c *Cloud) checkQueue(q *request) *fault {
	if q.str("QueueUrl") != "http://"+q.host+c.queuePath() {
		return noQueue()
	}
	return nil
}

// deleteMessage accepts the receipt of any delivery, as a standard queue usually does.
func (c *Cloud) deleteMessage(q *request) (any, *fault) {
	if err := c.checkQueue(q); err != nil {
		return nil, err
	}
	receipt := q.str("ReceiptHandle")
	c.messages = slices.DeleteFunc(c.messages, func(m *message) bool { return m.receipt != "" && strings.HasPrefix(receipt, m.id+"#") })
	return map[string]any{}, nil
}

// event returns an event of EventBridge with a detail.
func (c *Cloud) event(source, kind string, detail map[string]any) string {
	data, _ := json.Marshal(map[string]any{ // maps and strings only
		"version": "0", "id": c.id("event"), "detail-type": kind, "source": source, "account": c.opts.Account,
		"time": c.now.UTC().Format(time.RFC3339), "region": c.opts.Region, "resources": []string{}, "detail": detail,
	})
	return string(data)
}
