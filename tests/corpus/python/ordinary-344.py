import torch
model.eval()
with torch.no_grad():
    out = model(x)
torch.compile(model)
