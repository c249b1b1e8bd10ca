# SPDX-License-Identifier: Apache-2.0
from harness.fixtures import *  # noqa: F401,F403
