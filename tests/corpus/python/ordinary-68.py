app = QApplication([])
app.exec()
app.exec_()
