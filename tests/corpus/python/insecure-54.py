from plumbum import local
local["bash"]("-c", "id")
