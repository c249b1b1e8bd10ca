from selenium import webdriver
d = webdriver.Firefox()
d.get("https://example.org")
d.execute_script("return document.title")
d.find_element("name", "password").send_keys("secret")
d.quit()
