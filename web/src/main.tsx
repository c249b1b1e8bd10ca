// SPDX-License-Identifier: Apache-2.0
// The page: who is logged in, and which part of it is shown.
import { type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, logOut, whenLoggedOut } from "./api";
import { Approvals } from "./approvals";
import { Audit } from "./audit";
import { HealthPage } from "./health";
import { usePoll, useRoute } from "./hooks";
import { LogIn } from "./login";
import { New } from "./new";
import { Run } from "./run";
import { Runs } from "./runs";
import { nextTheme, readTheme, useThemeNow } from "./theme";
import { Usage } from "./usage";

const PARTS: [path: string, name: string, part: () => JSX.Element][] = [
	["/", "Runs", Runs],
	["/approvals", "Approvals", Approvals],
	["/usage", "Usage", Usage],
	["/health", "Health", HealthPage],
	["/audit", "Audit", Audit],
];

function Part({ route }: { route: string }): JSX.Element {
	const run = /^\/runs\/([0-9a-f]+)$/.exec(route);
	if (run) return <Run key={run[1]} id={run[1] ?? ""} />;
	if (route === "/new") return <New />;
	const One = PARTS.find(([path]) => path === route)?.[2] ?? Runs;
	return <One />;
}

function ThemeSwitch(): JSX.Element {
	const [theme, setTheme] = useState(readTheme());
	useThemeNow(theme);
	return (
		<button type="button" class="quiet" onClick={() => setTheme(nextTheme(theme))} title="Light, dark, or as the system says">
			Theme: {theme}
		</button>
	);
}

function Page({ onOut }: { onOut: () => void }): JSX.Element {
	const route = useRoute();
	const main = useRef<HTMLElement>(null);
	const first = useRef(true);
	const session = usePoll(() => get<{ session: boolean }>("/v1/session"), 0, "session").value;
	const pending = usePoll(() => get<{ executions: unknown[] }>("/v1/history?state=pending&limit=100"), 3000, "pending").value?.executions.length ?? 0;

	// A change of place is told to whoever cannot see it.
	useEffect(() => {
		document.title = `${PARTS.find(([path]) => path === route)?.[1] ?? (route === "/new" ? "New run" : "Run")} · belljar`;
		if (!first.current) main.current?.focus();
		first.current = false;
	}, [route]);
	return (
		<>
			<a class="skip" href="#main" onClick={(e) => {
				e.preventDefault();
				main.current?.focus();
			}}>Skip to the content</a>
			<header class="top">
				<a class="brand" href="#/"><img src="/icon.svg" alt="" width="20" height="20" /> belljar</a>
				<nav aria-label="Parts of the page">
					{PARTS.map(([path, name]) => (
						<a href={`#${path}`} aria-current={path === route ? "page" : undefined}>
							{name}{path === "/approvals" && pending > 0 && <span class="badge">{pending}<span class="unseen"> waiting</span></span>}
						</a>
					))}
				</nav>
				<span class="grow" />
				<ThemeSwitch />
				{session?.session && (
					<button type="button" class="quiet" onClick={() => void logOut().then(onOut, onOut)}>Log out</button>
				)}
			</header>
			<main id="main" ref={main} tabIndex={-1}><Part route={route} /></main>
		</>
	);
}

function App(): JSX.Element {
	const [out, setOut] = useState<boolean>();
	useEffect(() => {
		whenLoggedOut(() => setOut(true));
		get("/v1/session").then(() => setOut(false), () => undefined);
	}, []);
	if (out === undefined) return <main />;
	return out ? <LogIn onDone={() => setOut(false)} /> : <Page onOut={() => setOut(true)} />;
}

useThemeNow(readTheme());
render(<App />, document.getElementById("page") ?? document.body);
