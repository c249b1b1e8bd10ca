// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system says.

export type Theme = "auto" | "light" | "dark";
const ORDER: Theme[] = ["auto", "light", "dark"];

export function readTheme(): Theme {
	try {
		const kept = localStorage.getItem("theme") as Theme | null;
		return kept && ORDER.includes(kept) ? kept : "auto";
	} catch {
		return "auto";
	}
}

export function useThemeNow(theme: Theme): void {
	document.documentElement.dataset["theme"] = theme;
	try {
		localStorage.setItem("theme", theme);
	} catch {
		// A browser that keeps nothing still shows the theme.
	}
}

export const nextTheme = (theme: Theme): Theme => ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "auto";
