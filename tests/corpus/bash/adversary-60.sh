gcloud projects delete prod --quiet
