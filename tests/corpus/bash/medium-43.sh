kafka-topics.sh --bootstrap-server queue:9092 --delete --topic orders
rabbitmqctl force_reset
