// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { watchList } from "./api";

/** Call @work now and every @ms while the page is looked at; the last value and the last failure. */
export function usePoll<T>(work: () => Promise<T>, ms: number | ((value: T | undefined) => number), key: string):
		{ value: T | undefined; error: string | undefined; again: () => void } {
	const [value, setValue] = useState<T>();
	const [error, setError] = useState<string>();
	const kick = useRef<() => void>(() => undefined);

	useEffect(() => {
		let timer = 0, over = false, last: T | undefined;
		setValue(undefined);
		const turn = async (): Promise<void> => {
			clearTimeout(timer);
			if (!document.hidden) {
				try {
					last = await work();
					if (over) return;
					setValue(last);
					setError(undefined);
				} catch (e) {
					if (over) return;
					setError((e as Error).message);
				}
			}
			const wait = typeof ms === "number" ? ms : ms(last);
			if (!over && wait > 0) timer = window.setTimeout(() => void turn(), wait);
		};
		const wake = (): void => void (document.hidden || turn());
		kick.current = () => void turn();
		document.addEventListener("visibilitychange", wake);
		void turn();
		return () => {
			over = true;
			clearTimeout(timer);
			document.removeEventListener("visibilitychange", wake);
		};
	}, [key]);
	return { value, error, again: () => kick.current() };
}

const QUIET_MS = 100;

/** As usePoll, and at once when something happens to a run. A storm of changes is one look every now and then. */
export function useLive<T>(work: () => Promise<T>, ms: number, key: string): ReturnType<typeof usePoll<T>> {
	const it = usePoll(work, ms, key);
	const again = useRef(it.again);
	again.current = it.again;
	useEffect(() => {
		let timer = 0, last = 0;
		const stop = watchList(() => {
			if (timer) return;
			timer = window.setTimeout(() => {
				timer = 0;
				last = Date.now();
				again.current();
			}, Math.max(0, last + QUIET_MS - Date.now()));
		});
		return () => {
			stop();
			clearTimeout(timer);
		};
	}, []);
	return it;
}

/** The time, moving on once a second. */
export function useNow(): number {
	const [now, setNow] = useState(Date.now());
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	return now;
}

/** The part of the address after #, as it changes. */
export function useRoute(): string {
	const [route, setRoute] = useState(location.hash.slice(1) || "/");
	// Before the browser does anything else: a change in between would be heard by nobody.
	useLayoutEffect(() => {
		const hear = (): void => setRoute(location.hash.slice(1) || "/");
		addEventListener("hashchange", hear);
		return () => removeEventListener("hashchange", hear);
	}, []);
	return route;
}
