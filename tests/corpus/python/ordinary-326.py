import schedule, time
schedule.every(10).minutes.do(print, "x")
while True:
    schedule.run_pending()
    time.sleep(1)
