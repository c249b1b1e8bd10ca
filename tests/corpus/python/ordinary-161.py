from PySide6.QtWidgets import QApplication
import sys
app = QApplication(sys.argv)
sys.exit(app.exec())
