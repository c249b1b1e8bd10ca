kafka-topics.sh --bootstrap-server queue:9092 --list
rabbitmqctl status
