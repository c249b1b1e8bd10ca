import pygame
pygame.init()
screen = pygame.display.set_mode((640, 480))
running = True
while running:
    for ev in pygame.event.get():
        running = ev.type != pygame.QUIT
pygame.quit()
