// SPDX-License-Identifier: Apache-2.0
// Long enough for a file of its own. DOCS, TOOL.
import { testDocuments } from "./start.mjs";

testDocuments(["langchain.md"]);
