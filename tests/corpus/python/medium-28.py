import subprocess
def convert(src, dst):
    subprocess.run(["ffmpeg", "-y", "-i", src, dst], check=True)
convert("a.wav", "a.mp3")
