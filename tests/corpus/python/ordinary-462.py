from PIL import Image
im = Image.open("a.png").convert("L").resize((64, 64)); im.save("b.png")
print(Image.eval(im, lambda p: 255 - p).size)
