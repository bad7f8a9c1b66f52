/**
 * The bars of docs/images/benchmarks.svg, drawn from the table in docs/performance.md, so that the
 * picture shows what was measured.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pages.ts';

interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as text, with its unit. */
  readonly text: string;
  readonly ours?: boolean;
}

interface Panel {
  readonly title: string;
  readonly note: string;
  readonly bars: readonly Bar[];
}

const page = readFileSync(join(root, 'docs/performance.md'), 'utf8');
const [, table = ''] = page.split(/<!-- \/?table -->/);
const rows = new Map(
  table.split('\n').flatMap((line): [string, { measured: string; figures: string }][] => {
    const cells = line.split(' | ').map((cell) => cell.replace(/^\| | ?\|$/g, ''));
    return cells.length === 7
      ? [[cells[0] as string, { measured: cells[2] as string, figures: cells[6] as string }]]
      : [];
  }),
);

function row(what: string): { measured: string; figures: string } {
  const found = rows.get(what);
  if (found === undefined) throw new Error(`docs/performance.md has no row "${what}"`);
  return found;
}

/** The last nanoseconds that the row's figures name, as microseconds. */
function time(what: string, label: string): Bar {
  const nanoseconds = [...row(what).figures.matchAll(/(\d+) ns/g)].at(-1)?.[1];
  if (nanoseconds === undefined) throw new Error(`"${what}" has no figure in ns`);
  const value = Number(nanoseconds) / 1_000;
  return { label, value, text: `${value.toFixed(2)} µs`, ours: true };
}

function factor(what: string, label: string): Bar {
  const text = row(what).measured;
  return { label, value: Number.parseFloat(text), text };
}

/** "160 → 1136 ns": the first is the same work without the library. */
function baseline(): Bar {
  const value =
    Number.parseInt(row('governed call, zod, no listener').figures.split(' → ')[0] as string, 10) /
    1_000;
  return {
    label: 'Without gates: parse, await the handler',
    value,
    text: `${value.toFixed(2)} µs`,
  };
}

const panels: readonly Panel[] = [
  {
    title: 'What the gates cost',
    note: 'One call with a small zod schema, in microseconds. Shorter is better.',
    bars: [
      baseline(),
      time('governed call, zod, no listener', 'A governed call'),
      time('check + timeout + budget, no listener', 'With a check, a timeout and a budget'),
      time('policy denies (a rule on the arguments)', 'Denied by a rule on the arguments'),
      time('bad input refused, error result included', 'Refused because of bad arguments'),
    ],
  },
  {
    title: 'The same tool elsewhere',
    note:
      'Time of one call, where host-tools with a check, a timeout and a budget takes 1. Shorter ' +
      'is better.',
    bars: [
      factor('Mastra `execute`', 'Mastra, execute'),
      { label: 'host-tools', value: 1, text: '1 ×', ours: true },
      factor('OpenAI Agents `tool({ timeoutMs }).invoke`', 'OpenAI Agents, tool.invoke'),
      factor('LangChain `invoke`', 'LangChain, tool.invoke'),
      factor('MCP in-memory `callTool`', 'MCP in memory, callTool'),
    ],
  },
];

const measuredOn = /\d{4}-\d{2}-\d{2}/.exec(table)?.[0];
const width = 880;
const barsAt = 330;
const longest = 430;

function panel({ title, note, bars }: Panel, top: number): string {
  const scale = longest / Math.max(...bars.map(({ value }) => value));
  const lines = bars.map(({ label, value, text, ours }, index) => {
    const y = top + 62 + index * 30;
    const length = Math.max(2, Math.round(value * scale));
    return [
      `  <text class="b e" x="${barsAt - 14}" y="${y + 15}">${label}</text>`,
      `  <rect class="${ours === true ? 'ours' : 'other'}" x="${barsAt}" y="${y}" ` +
        `width="${length}" height="20" rx="3"/>`,
      `  <text class="b" x="${barsAt + length + 10}" y="${y + 15}">${text}</text>`,
    ].join('\n');
  });
  return [
    `  <text class="h" x="28" y="${top + 24}">${title}</text>`,
    `  <text class="s" x="28" y="${top + 46}">${note}</text>`,
    ...lines,
  ].join('\n');
}

/** Everything that the picture shows, for those who do not see it. */
function inWords(): string {
  return panels
    .map(
      ({ title, bars }) =>
        `${title}: ${bars.map(({ label, text }) => `${label} ${text}`).join('; ')}.`,
    )
    .join(' ');
}

export function benchmarksPicture(): string {
  let top = 16;
  const drawn = panels.map((one) => {
    const lines = panel(one, top);
    top += 62 + one.bars.length * 30 + 22;
    return lines;
  });
  const height = top + 28;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">
  <title id="t">Benchmarks</title>
  <desc id="d">${inWords()}</desc>
  <style>
    text { font-family: ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #0f172a; }
    .h { font-size: 17px; font-weight: 600; }
    .b { font-size: 14px; }
    .s { font-size: 13px; fill: #475569; }
    .e { text-anchor: end; }
    .panel { fill: #f8fafc; stroke: #cbd5e1; }
    .ours { fill: #4f46e5; }
    .other { fill: #94a3b8; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f1f5f9; }
      .s { fill: #94a3b8; }
      .panel { fill: #1e293b; stroke: #475569; }
      .ours { fill: #818cf8; }
      .other { fill: #64748b; }
    }
  </style>
  <rect class="panel" x="1" y="1" width="${width - 2}" height="${height - 2}" rx="12"/>
${drawn.join('\n')}
  <text class="s" x="28" y="${top + 8}">Measured on ${measuredOn}. The table in docs/performance.md has every row, the machine and the versions.</text>
</svg>
`;
}
