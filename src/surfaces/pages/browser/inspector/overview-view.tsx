/** Counts and charts. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CallLine, InspectorState } from '../../inspector-wire.ts';
import { Empty, Scroll } from '../parts/elements.tsx';
import { Hint } from '../parts/hint.tsx';
import { countOf, durationOf, several, shareOf } from '../parts/words.ts';
import { Chart } from './chart.tsx';
import type { ViewProps } from './place.ts';
import { seriesOf, type Times, timesByTool } from './series.ts';

const failedMeans = 'The handler may have run: it threw, reported a failure or took too long.';
const deniedMeans = 'A rule, a policy, a quota or a person said no.';

/** The totals with their meanings, in their order. */
const tiles: readonly (readonly [
  name: string,
  count: keyof InspectorState['totals'],
  means: string,
])[] = [
  ['Calls', 'calls', 'All calls since the registry was made, whatever became of them.'],
  ['Succeeded', 'succeeded', 'The handler ran, and the model got its result.'],
  [
    'Refused',
    'rejected',
    'The handler did not run: the call was denied, its input was invalid, there is no such tool, ' +
      'or a limit was reached.',
  ],
  [
    'Denied',
    'denied',
    `${deniedMeans} Denied calls are among the refused ones. The share is that of all calls.`,
  ],
  ['Failed', 'failed', failedMeans],
  ['Cancelled', 'cancelled', 'The caller withdrew the call before its end.'],
  [
    'Suspended',
    'pending',
    'The call ended for now, until a person answers. It counts once more when it is resumed.',
  ],
];

export function OverviewView({ known }: ViewProps): JSX.Element {
  const { state, order, calls } = known;
  const { series, times } = useMemo(() => {
    const lines = order.flatMap((n): CallLine | CallLine[] => calls.get(n) ?? []);
    return { series: seriesOf(lines, Date.now()), times: timesByTool(lines) };
  }, [order, state]);
  if (state === undefined || state.totals.calls + order.length === 0)
    return <Empty title="No calls yet">Counts and charts appear with the first call.</Empty>;
  const { totals } = state;
  return (
    <Scroll name="scroll" label="Overview">
      <div class="column">
        <dl class="tiles">
          {tiles.map(([name, count, means]) => (
            <Tile
              key={name}
              name={name}
              means={means}
              value={countOf(totals[count])}
              more={count === 'denied' ? shareOf(totals.denied, totals.calls) : undefined}
            />
          ))}
        </dl>
        <Charts series={series} />
        <Tools state={state} times={times} />
        <Reasons state={state} />
      </div>
    </Scroll>
  );
}

function Charts({ series }: { readonly series: ReturnType<typeof seriesOf> }): JSX.Element {
  const { bucketMs, times } = series;
  const per = bucketMs < 60_000 ? `${bucketMs / 1_000} s` : `${bucketMs / 60_000} min`;
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  const [calls, refused] = [sum(series.calls), sum(series.refused)];
  const slowest = durationOf(Math.max(0, ...series.most.map((value) => value ?? 0)));
  return (
    <div class="pair">
      <section class="card">
        <header>
          <h2 class="grow">Calls</h2>
          <span class="soft small">per {per}</span>
        </header>
        <div class="body">
          <Chart
            times={times}
            lines={[
              { label: 'all', colour: '--accent', fill: true, values: series.calls },
              { label: 'refused', colour: '--bad-mark', fill: true, values: series.refused },
            ]}
            unit={(value) => (Number.isInteger(value) ? countOf(value) : '')}
            says={
              `Calls per ${per}: ${several(calls, 'call')} in sight, ` +
              `${countOf(refused)} of them refused.`
            }
          />
        </div>
      </section>
      <section class="card">
        <header>
          <h2 class="grow">Latency</h2>
          <span class="soft small">of calls that ran</span>
        </header>
        <div class="body">
          <Chart
            times={times}
            lines={[
              { label: 'median', colour: '--good-mark', values: series.half },
              { label: '95th percentile', colour: '--warn-mark', values: series.most },
            ]}
            unit={(value) => (value === 0 ? '0' : durationOf(value))}
            says={`Latency over time: the 95th percentile is at most ${slowest} in any ${per}.`}
          />
        </div>
      </section>
    </div>
  );
}

function Tile({
  name,
  means,
  value,
  more,
}: {
  readonly name: string;
  /** What is counted. */
  readonly means: string;
  readonly value: string;
  readonly more: string | undefined;
}): JSX.Element {
  return (
    <div class="card tile">
      <dt>
        <Hint word={name}>{means}</Hint>
      </dt>
      <dd>
        {value} {more === undefined ? null : <span class="soft small">{more}</span>}
      </dd>
    </div>
  );
}

/** The calls whose times are shown. */
const timed =
  ' It is about the calls on this page that succeeded or failed: of all tools together, the ' +
  'newest 10 000.';
const columns: readonly (readonly [word: string, means: string])[] = [
  ['Calls', 'All calls of the tool.'],
  ['Failed', failedMeans],
  ['Denied', deniedMeans],
  ['Deny rate', 'The denied calls as a share of all calls of the tool.'],
  ['Mean', `The sum of all times, divided by the number of calls. A slow call raises it.${timed}`],
  ['Median', `Half of the calls took at most this long. A slow call does not raise it.${timed}`],
  ['95 %', `95 of 100 calls took at most this long.${timed}`],
];

function Tools({
  state,
  times,
}: {
  readonly state: InspectorState;
  readonly times: ReadonlyMap<string, Times>;
}): JSX.Element | null {
  const { tools, more } = state;
  if (tools.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Tools</h2>
      </header>
      <Scroll name="table" label="Table of tools">
        <table>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              {columns.map(([word, means]) => (
                <th key={word} scope="col" class={word === 'Deny rate' ? '' : 'number'}>
                  <Hint word={word}>{means}</Hint>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tools.map((tool) => (
              <ToolRow key={tool.name} tool={tool} times={times.get(tool.name)} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {more.tools === 0 ? null : (
        <p class="body soft">{several(more.tools, 'more tool')} not shown.</p>
      )}
    </section>
  );
}

function ToolRow({
  tool,
  times,
}: {
  readonly tool: InspectorState['tools'][number];
  /** Undefined if none of its calls is on the page. */
  readonly times: Times | undefined;
}): JSX.Element {
  const { name, calls, failed, denied } = tool;
  return (
    <tr>
      <td class="wrap">{name}</td>
      <td class="number">{countOf(calls)}</td>
      <td class="number">{countOf(failed)}</td>
      <td class="number">{countOf(denied)}</td>
      <td>
        <span class="rate">
          <span class="number">{shareOf(denied, calls)}</span>
          <span class="meter" aria-hidden="true">
            <i class="bad" style={{ width: `${calls === 0 ? 0 : (100 * denied) / calls}%` }} />
          </span>
        </span>
      </td>
      {(['mean', 'half', 'most'] as const).map((which) => (
        <td key={which} class="number">
          {times === undefined ? '–' : durationOf(times[which])}
        </td>
      ))}
    </tr>
  );
}

function Reasons({ state }: { readonly state: InspectorState }): JSX.Element | null {
  const { reasons } = state;
  const most = reasons[0]?.count ?? 1;
  if (reasons.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Reasons of refusals and failures</h2>
      </header>
      <Scroll name="table" label="Table of reasons">
        <table>
          <thead>
            <tr>
              <th scope="col">Reason or code</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="half">
                <span class="unseen">Share</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {reasons.map(({ reason, count }) => (
              <tr key={reason}>
                <td class="mono wrap">{reason}</td>
                <td class="number">{countOf(count)}</td>
                <td>
                  <span class="meter" aria-hidden="true">
                    <i style={{ width: `${(100 * count) / most}%` }} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
