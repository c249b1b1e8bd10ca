r""m -rf /
