/** A chart over time. Its numbers are also given in words, for people who cannot see it. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { shortTimeOf } from '../parts/words.ts';
import { shownTime } from './series.ts';

export interface ChartLine {
  readonly label: string;
  /** The name of a colour in the style sheet, such as `--accent`. */
  readonly colour: string;
  readonly fill?: boolean;
  readonly values: readonly (number | null)[];
}

const dark = matchMedia('(prefers-color-scheme: dark)');

export function Chart({
  times,
  lines,
  unit,
  says,
}: {
  /** Epoch seconds, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly unit: (value: number) => string;
  /** The chart in words. */
  readonly says: string;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [scheme, setScheme] = useState(dark.matches);
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;

  useEffect(() => {
    const changed = (): void => setScheme(dark.matches);
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, []);
  useEffect(() => {
    const own = box.current;
    if (own === null) return;
    const size = () => ({ width: Math.max(200, own.clientWidth), height: 190 });
    plot.current = new uPlot({ ...optionsOf(own, lines, unit), ...size() }, data, own);
    const observer = new ResizeObserver(() => plot.current?.setSize(size()));
    observer.observe(own);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
    // The data is updated below, without a new chart.
  }, [scheme, lines.map(({ label }) => label).join()]);
  useEffect(() => plot.current?.setData(data));
  return (
    <figure role="img" aria-label={says}>
      <div class="row small keys" aria-hidden="true">
        {lines.map(({ label, colour }) => (
          <span key={label} class="row">
            <i style={{ background: `var(${colour})` }} />
            {label}
          </span>
        ))}
      </div>
      <div ref={box} class="plot" aria-hidden="true" />
    </figure>
  );
}

const isShort: uPlot.Series.Points.Show = ({ data }, series) =>
  (data[series] ?? []).filter((value) => value !== null).length < 3;

function optionsOf(
  box: HTMLElement,
  lines: readonly ChartLine[],
  unit: (value: number) => string,
): Omit<uPlot.Options, 'width' | 'height'> {
  const styles = getComputedStyle(box);
  const colour = (name: string): string => styles.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    // Room for half of the last label of the time.
    padding: [8, 30, 0, 0],
    scales: {
      // For a single time, the library would suggest a whole day.
      x: { range: ({ data: [times] }) => shownTime(times) },
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [
      {
        ...axis,
        space: 80,
        size: 34,
        gap: 9,
        values: (_, splits) => splits.map((at) => shortTimeOf(at * 1_000)),
      },
      { ...axis, size: 56, space: 36, values: (_, splits) => splits.map(unit) },
    ],
    series: [
      {},
      ...lines.map(({ label, colour: name, fill }) => ({
        label,
        stroke: colour(name),
        width: 2,
        spanGaps: true,
        // A line of one point is nothing that can be seen.
        points: { show: isShort, size: 7 },
        ...(fill === true ? { fill: `${colour(name)}2e` } : {}),
      })),
    ],
  };
}
