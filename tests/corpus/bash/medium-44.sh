aws sqs purge-queue --queue-url "$QUEUE"
