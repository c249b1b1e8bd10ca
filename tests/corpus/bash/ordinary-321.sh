printf -v name '%s_%02d' part 3
declare "$name=1"
