/** Completed and failed jobs by minute. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

import type { Stats } from "../../api/calls.ts";
import { systemIsDark, theme } from "../../live/theme.ts";
import { number } from "../../parts/shown.tsx";
import { columns } from "./columns.ts";

const HEIGHT = 190;
/** Failed jobs are told by a broken line as well as by a colour, in pixels on and off. */
const BROKEN = [5, 3];
/** Between two lines of the chart: whole jobs, there are no halves. */
const WHOLE = Array.from({ length: 9 }, (_, n) => [1, 2, 5].map((it) => it * 10 ** n)).flat();

export function Chart({ minutes }: { minutes: Stats["minutes"] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = columns(minutes, Date.now() / 1_000);
  const latest = useRef(data);
  latest.current = data;

  useSignalEffect(() => {
    // Colours are read when it is drawn, so a new theme is a new chart.
    void theme.value;
    void systemIsDark.value;
    const element = place.current;
    if (!element) return;
    const drawn = draw(element, latest.current);
    plot.current = drawn;
    const resized = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  });
  useEffect(() => plot.current?.setData(latest.current), [minutes]);

  const sum = (column: number[]) => number(column.reduce((all, it) => all + it, 0));
  return (
    <figure>
      <div ref={place} class="chart" aria-hidden="true" />
      <figcaption>
        <span class="key-completed" aria-hidden="true" /> {sum(data[1])} completed{" "}
        <span class="key-failed" aria-hidden="true" /> {sum(data[2])} failed
      </figcaption>
    </figure>
  );
}

function draw(place: HTMLElement, data: [number[], number[], number[]]): uPlot {
  const style = getComputedStyle(place);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--chart-text"),
    grid: { stroke: colour("--chart-line"), width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, _low, high) => [0, Math.max(high, 4)] } },
      axes: [axis, { ...axis, size: 44, incrs: WHOLE }],
      series: [
        {},
        { stroke: colour("--chart-completed"), width: 1.5, points: { show: false } },
        { stroke: colour("--chart-failed"), dash: BROKEN, width: 1.5, points: { show: false } },
      ],
    },
    data,
    place,
  );
}
