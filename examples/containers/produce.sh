#!/usr/bin/env bash
# Creates the topic orders with 4 partitions and puts ORDERS orders into it, once: a full topic is left alone.
# Runs in Kafka's image with Kafka's own tools.
set -euo pipefail
bin=${KAFKA_HOME:-/opt/kafka}/bin
server=${KAFKA_SERVER:-localhost:9092}
orders=${ORDERS:-10000}

records() {
  "$bin/kafka-get-offsets.sh" --bootstrap-server "$server" --topic orders |
    awk -F: '{ sum += $3 } END { print sum + 0 }'
}

# One order a line, as KEY|VALUE. The key brings all records of one order into one partition, in order.
generate() {
  awk -v orders="$orders" 'BEGIN {
    split("Ada Grace Zoë Łukasz Søren 直子", names, " ")
    for (id = 1; id <= orders; id++) {
      cents = id * 7919 % 1000000
      printf "%d|{\"id\": %d, \"customer\": \"%s\", \"amount\": %d.%02d, \"placed\": 1767225600%03d}\n",
        id, id, names[id % 6 + 1], cents / 100, cents % 100, id % 1000
    }
  }'
}

"$bin/kafka-topics.sh" --bootstrap-server "$server" --create --if-not-exists --topic orders \
  --partitions 4 --replication-factor 1
found=$(records)
if [ "$found" = 0 ]; then
  generate | "$bin/kafka-console-producer.sh" --bootstrap-server "$server" --topic orders \
    --property parse.key=true --property 'key.separator=|'
  # The tool ends with 0 even when the broker refused something.
  found=$(records)
fi
if [ "$found" != "$orders" ]; then
  echo "the topic orders holds $found records, not $orders; to start anew: docker compose down --volumes" >&2
  exit 1
fi
echo "the topic orders holds $found records"
