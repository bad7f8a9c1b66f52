/**
 * The report of an audit log as one HTML file, without scripts and without requests to anywhere.
 */
import type { AuditSummary, Period, ToolSummary } from './audit-summary.ts';
import { printable } from './printable.ts';

/** Most rows of a table. */
const maxRows = 25;
/** Most characters of a name in a table. */
const maxOfName = 200;

/** Every text that comes from the log goes through here, names through `cut` as well. */
function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const style = `
:root{color-scheme:light dark;--ink:#1c1e21;--soft:#5f6672;--paper:#fff;--line:#e3e6ea;
  --bar:#3b6fd4;--deny:#c8443a;--ok:#1f7a4d}
@media(prefers-color-scheme:dark){:root{--ink:#e7e9ec;--soft:#9aa2ae;--paper:#15171a;
  --line:#2c3036;--bar:#6c9bf5;--deny:#f0796f;--ok:#5cc08f}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;
  margin:2rem auto;padding:0 1.25rem}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.05rem;margin:2.25rem 0 .5rem}
p{margin:.25rem 0}.soft{color:var(--soft)}
.verdict{border-left:4px solid var(--ok);padding:.5rem .9rem;margin:1rem 0;white-space:pre-line;
  background:color-mix(in srgb,var(--ok) 10%,transparent)}
.broken{border-color:var(--deny);background:color-mix(in srgb,var(--deny) 12%,transparent);
  font-weight:600}
.tiles{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.25rem 0}
.tile{border:1px solid var(--line);border-radius:8px;padding:.6rem 1rem;min-width:7rem}
.tile b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);
  vertical-align:top}
th{font-weight:600;color:var(--soft);font-size:.85rem}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.name{overflow-wrap:anywhere;min-width:9rem}td.meter{width:35%;min-width:3rem}
@media(max-width:40rem){td.meter,th:empty{display:none}th,td{padding-right:.5rem}
  td.name{min-width:6rem}}
.track{background:var(--line);border-radius:4px;height:.7rem;margin-top:.4rem;overflow:hidden}
.track i{display:block;height:100%;background:var(--bar)}.track i.deny{background:var(--deny)}
svg{display:block;width:100%;height:11rem}.axis{display:flex;justify-content:space-between;
  font-size:.8rem;color:var(--soft);margin:0}
svg .calls{fill:var(--bar)}svg .denied{fill:var(--deny)}svg line{stroke:var(--line);
  vector-effect:non-scaling-stroke}
.key i{display:inline-block;width:.7rem;height:.7rem;border-radius:2px;background:var(--bar);
  margin:0 .35rem 0 .9rem}.key i.deny{background:var(--deny)}
ul{margin:.25rem 0;padding-left:1.2rem}
`;

/** The page. @param verdict The result of checking the chains, in words. */
export function auditPage(
  file: string,
  ok: boolean,
  verdict: string,
  summary: AuditSummary,
): string {
  const { calls, denied, byStatus, from, to } = summary;
  const time =
    from === undefined || to === undefined ? 'No lines.' : `${day(from)} to ${day(to)} (UTC).`;
  const tiles = [
    ['calls', String(calls)],
    ['denied', percent(denied, calls)],
    ...Object.entries(byStatus).map(([status, count]) => [status, String(count)]),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>Audit report: ${escaped(file)}</title><style>${style}</style></head><body>
<h1>Audit report</h1><p class="soft">${escaped(file)}. ${time}</p>
<p ${ok ? 'class="verdict" role="status"' : 'class="verdict broken" role="alert"'}>${escaped(
    verdict,
  )}</p>
<div class="tiles">${tiles
    .map(
      ([name = '', value = '']) =>
        `<div class="tile"><b>${escaped(value)}</b>${escaped(cut(name))}</div>`,
    )
    .join('')}</div>
<p class="soft">Rejected calls ended before their handler ran. The denied ones among them were
stopped by a rule, a policy or a quota. Pending calls waited for a person.</p>
${list(noted(summary))}
${chart(summary.periods)}
${toolTable(summary)}
${slowTable(summary)}
${countTable('Denied by rule, policy or quota', summary.deniedByRule, 'deny')}
${countTable('Reasons', summary.byReason, 'deny')}
${approverTable(summary)}
${countTable('Calls by principal', summary.byPrincipal, '')}
${countTable('Calls by agent', summary.byAgent, '')}
</body></html>
`;
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

function list(lines: readonly string[]): string {
  return lines.length === 0
    ? ''
    : `<ul>${lines.map((line) => `<li>${escaped(line.trim())}</li>`).join('')}</ul>`;
}

const [chartWidth, chartHeight] = [900, 180];

/** Calls over time, and the denied ones among them. */
function chart(periods: readonly Period[]): string {
  const most = Math.max(0, ...periods.map(({ calls, denied }) => Math.max(calls, denied)));
  const [first, last] = [periods[0], periods.at(-1)];
  if (first === undefined || last === undefined || most === 0) return '';
  const step = chartWidth / Math.max(periods.length, 12);
  const bar = (kind: string, count: number, at: number): string => {
    const height = (chartHeight * count) / most;
    return height === 0
      ? ''
      : `<rect class="${kind}" x="${(at * step + 1).toFixed(1)}" ` +
          `width="${Math.max(step - 2, 1).toFixed(1)}" ` +
          `y="${(chartHeight - height).toFixed(1)}" height="${height.toFixed(1)}"/>`;
  };
  const bars = periods
    .map(
      ({ from, calls, denied }, at) =>
        `<g><title>${day(from)}: ${calls} calls, ${denied} denied</title>` +
        `${bar('calls', calls, at)}${bar('denied', Math.min(denied, calls || denied), at)}</g>`,
    )
    .join('');
  const label = `Calls over time, at most ${most} in one bar`;
  const line = (y: number): string => `<line x1="0" x2="${chartWidth}" y1="${y}" y2="${y}"/>`;
  // Its labels are outside of the drawing, which becomes as wide as the page.
  return `<h2>Calls over time</h2>
<p class="soft key"><i></i>calls<i class="deny"></i>denied</p>
<p class="axis">${most}</p>
<svg viewBox="0 0 ${chartWidth} ${chartHeight}" preserveAspectRatio="none" role="img"
aria-label="${label}">
${line(0)}${line(chartHeight)}${bars}</svg>
<p class="axis"><span>${day(first.from)}</span>${
    periods.length > 1 ? `<span>${day(last.from)}</span>` : ''
  }</p>`;
}

type Cell = { readonly text: string } | { readonly share: number; readonly kind: string };

function table(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly [string, readonly Cell[]])[],
): string {
  if (rows.length === 0) return '';
  const left = rows.length - maxRows;
  const cell = (one: Cell): string =>
    'text' in one
      ? `<td class="n">${escaped(one.text)}</td>`
      : `<td class="meter"><div class="track"><i class="${one.kind}" ` +
        `style="width:${(100 * one.share).toFixed(1)}%"></i></div></td>`;
  return `<h2>${title}</h2><table><thead><tr>${heads
    .map((head, at) => `<th scope="col"${at === 0 || head === '' ? '' : ' class="n"'}>${head}</th>`)
    .join('')}</tr></thead><tbody>${rows
    .slice(0, maxRows)
    .map(
      ([name, cells]) =>
        `<tr><td class="name">` +
        `${escaped(cut(name, maxOfName)) || '<span class="soft">(none)</span>'}</td>` +
        `${cells.map(cell).join('')}</tr>`,
    )
    .join('')}</tbody></table>${left > 0 ? `<p class="soft">and ${left} more</p>` : ''}`;
}

function toolTable(summary: AuditSummary): string {
  return table(
    'Deny rates of tools',
    ['tool', 'calls', 'denied', 'failed', 'rate', ''],
    maxDenied(summary).map(([name, { calls, denied, failed }]) => [
      name,
      [
        { text: String(calls) },
        { text: String(denied) },
        { text: String(failed) },
        { text: percent(denied, calls) },
        { share: calls === 0 ? 0 : Math.min(1, denied / calls), kind: 'deny' },
      ],
    ]),
  );
}

function slowTable(summary: AuditSummary): string {
  const rows = slowest(summary);
  const mean = ({ sum, count }: { sum: number; count: number }): number => sum / count;
  const longest = Math.max(0, ...rows.map(([, { durationMs }]) => mean(durationMs)));
  return table(
    'Slowest tools',
    ['tool', 'ran', 'mean', 'longest', ''],
    rows.map(([name, { durationMs }]) => [
      name,
      [
        { text: String(durationMs.count) },
        { text: `${mean(durationMs).toFixed(1)} ms` },
        { text: `${durationMs.max.toFixed(1)} ms` },
        { share: longest === 0 ? 0 : mean(durationMs) / longest, kind: '' },
      ],
    ]),
  );
}

function countTable(title: string, map: ReadonlyMap<string, number>, kind: string): string {
  const rows = byCount(map);
  const most = rows[0]?.[1] ?? 0;
  return table(
    title,
    ['name', 'calls', ''],
    rows.map(([name, count]) => [name, [{ text: String(count) }, { share: count / most, kind }]]),
  );
}

function approverTable({ approvers }: AuditSummary): string {
  return table(
    'Approvals, by who gave them',
    ['person', 'allowed', 'rejected'],
    [...approvers].map(([name, { allowed, rejected }]) => [
      name,
      [{ text: String(allowed) }, { text: String(rejected) }],
    ]),
  );
}

// The rows that the text and the page of a report have in common, in their order.

/** Most calls without an end that are named. */
const maxNamed = 10;

/** A name from the log, safe on a terminal, in at most `most` characters. */
export function cut(name: string, most = 60): string {
  const chars = [...printable(name.slice(0, 2 * most))];
  return chars.length > most ? `${chars.slice(0, most - 1).join('')}…` : chars.join('');
}

/** The facts that a reader must not overlook. */
export function noted(summary: AuditSummary): readonly string[] {
  const { openStarts, dropped, recovered, unanswered, refusedResumes } = summary;
  const { unasked, unaskedRefused } = summary;
  const began = openStarts.filter((call) => !call.asked);
  const asked = openStarts.filter((call) => call.asked);
  const some = (count: number, one: string, many: string): readonly string[] =>
    count === 0 ? [] : [count === 1 ? `1 ${one}` : `${count} ${many}`];
  return [
    ...some(unanswered, 'approval has no answer.', 'approvals have no answer.'),
    ...some(refusedResumes, 'resume was refused.', 'resumes were refused.'),
    ...some(unasked, 'call ran unasked:', 'calls ran unasked:').map(
      (line) => `${line} an agent did not ask first. The rules refuse ${unaskedRefused} of them.`,
    ),
    ...some(dropped, 'line was lost,', 'lines were lost,').map(
      (line) => `${line} because too many were waiting, or calls ran when the log was closed.`,
    ),
    ...some(recovered, 'process', 'processes').map(
      (line) => `${line} ended without closing the log.`,
    ),
    ...some(began.length, 'call started and has no end:', 'calls started and have no end:'),
    ...named(began),
    ...some(asked.length, 'call was asked about', 'calls were asked about').map(
      (line) => `${line} without an end: not allowed, or a coding agent did not say how it ended:`,
    ),
    ...named(asked),
  ];
}

function named(starts: AuditSummary['openStarts']): readonly string[] {
  return starts
    .slice(0, maxNamed)
    .map(
      ({ at, tool, callId, sessionId }) =>
        `  ${new Date(at).toISOString()} ${cut(tool)}, call ${cut(callId)} of ${cut(sessionId)}`,
    );
}

/** The tools with the most denials, then the most calls, first. */
export function maxDenied({ byTool }: AuditSummary): [string, Readonly<ToolSummary>][] {
  return [...byTool].sort(([, a], [, b]) => b.denied - a.denied || b.calls - a.calls);
}

/** The tools that ran, the slowest on average first. */
export function slowest({ byTool }: AuditSummary): [string, Readonly<ToolSummary>][] {
  return [...byTool]
    .filter(([, { durationMs }]) => durationMs.count > 0)
    .sort(([, { durationMs: a }], [, { durationMs: b }]) => b.sum / b.count - a.sum / a.count);
}

export function byCount(map: ReadonlyMap<string, number>): [string, number][] {
  return [...map].sort(([, a], [, b]) => b - a);
}

/** A share in per cent, with one decimal. */
export function percent(part: number, whole: number): string {
  return `${whole === 0 ? '0' : ((100 * part) / whole).toFixed(1).replace(/\.0$/, '')} %`;
}
