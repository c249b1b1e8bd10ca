# SPDX-License-Identifier: Apache-2.0
"""What the black-box tests share: driving the binary, modes, reading the process table."""
