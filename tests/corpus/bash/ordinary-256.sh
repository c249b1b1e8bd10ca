jq -n --arg t "$TOKEN" '{token: $t}' > body.json
yq '.services.web.image' docker-compose.yml
docker compose up -d --build
docker compose logs -f --tail=50 web
