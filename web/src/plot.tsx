// SPDX-License-Identifier: Apache-2.0
// A line over time, as SVG. A screen reader gets a sentence; a pointer or an arrow key gets the values.
import type { JSX } from "preact";
import { useState } from "preact/hooks";

export interface Sample {
	t: number;
	v: number;
}

const W = 600, H = 120, LEFT = 4, TOP = 8, BOTTOM = 18;

export function Plot({ name, samples, show, ceiling }: {
	name: string;
	samples: Sample[];
	show: (v: number) => string;
	ceiling?: number | undefined;
}): JSX.Element {
	const [picked, pick] = useState<number>();
	const first = samples[0]?.t ?? 0;
	const last = samples[samples.length - 1]?.t ?? 1;
	const peak = samples.reduce((most, s) => Math.max(most, s.v), 0);
	const top = Math.max(peak * 1.15, ceiling && ceiling < peak * 4 ? ceiling : 0, 1e-9);
	const x = (t: number): number => LEFT + ((t - first) / Math.max(last - first, 1)) * (W - 2 * LEFT);
	const y = (v: number): number => TOP + (1 - v / top) * (H - TOP - BOTTOM);
	const points = samples.map((s) => `${x(s.t).toFixed(1)},${y(s.v).toFixed(1)}`);
	const base = H - BOTTOM;
	const one = picked === undefined ? undefined : samples[picked];
	const seek = (e: PointerEvent): void => {
		const box = (e.currentTarget as SVGElement).getBoundingClientRect();
		const t = first + ((e.clientX - box.left) / box.width) * (last - first);
		pick(samples.reduce((best, s, i) => (Math.abs(s.t - t) < Math.abs((samples[best]?.t ?? 0) - t) ? i : best), 0));
	};
	const step = (e: KeyboardEvent): void => {
		const move = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
		if (!move) return;
		e.preventDefault();
		pick(Math.min(samples.length - 1, Math.max(0, (picked ?? samples.length - 1) + move)));
	};
	return (
		<figure class="plot">
			<figcaption><b>{name}</b> <span class="muted">{one ? `${show(one.v)} at ${((one.t - first) / 1000).toFixed(1)} s`
				: `peak ${show(peak)}`}</span></figcaption>
			<svg viewBox={`0 0 ${W} ${H}`} preserveAspectRatio="none" tabIndex={0} role="img" onKeyDown={step}
				onPointerMove={seek} onPointerLeave={() => pick(undefined)}
				aria-label={`${name}: peak ${show(peak)} in ${((last - first) / 1000).toFixed(1)} seconds; arrow keys read values`}>
				<line class="axis" x1={LEFT} x2={W - LEFT} y1={base} y2={base} />
				{ceiling !== undefined && ceiling <= top && <line class="ceiling" x1={LEFT} x2={W - LEFT} y1={y(ceiling)} y2={y(ceiling)} />}
				{points.length > 0 && <polygon class="area" points={`${x(first)},${base} ${points.join(" ")} ${x(last)},${base}`} />}
				<polyline class="curve" points={points.join(" ")} />
				{one && <line class="cursor" x1={x(one.t)} x2={x(one.t)} y1={TOP} y2={base} />}
			</svg>
		</figure>
	);
}
