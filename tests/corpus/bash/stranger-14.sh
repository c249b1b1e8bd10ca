xhost +
