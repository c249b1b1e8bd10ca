// SPDX-License-Identifier: Apache-2.0
export { Belljar, type ClientOptions } from "./client.js";
export { ApprovalNeeded, BelljarError, ConnectionFailed, Problem } from "./errors.js";
export { type Fetch, unixFetch } from "./socket.js";
export type * from "./types.js";
