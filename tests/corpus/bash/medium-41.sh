wrangler delete shop-worker
