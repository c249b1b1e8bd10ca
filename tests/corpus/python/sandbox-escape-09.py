import sys
sys.meta_path.insert(0, Finder())
