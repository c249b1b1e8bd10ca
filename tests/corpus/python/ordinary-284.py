from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from PIL import Image
def shrink(p):
    with Image.open(p) as im:
        im.thumbnail((800, 800))
        im.save(Path("out") / p.name, quality=85)
if __name__ == "__main__":
    Path("out").mkdir(exist_ok=True)
    with ProcessPoolExecutor() as ex:
        list(ex.map(shrink, Path("in").glob("*.jpg")))
