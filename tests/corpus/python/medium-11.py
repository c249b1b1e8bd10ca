import torch
model = torch.load('m.pt')
