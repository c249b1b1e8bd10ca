python3 - <<'EOF'
import pickle
pickle.loads(x)
EOF
