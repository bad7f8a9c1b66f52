/** Counts and charts. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { CallLine, InspectorState } from '../../inspector-wire.ts';
import { Empty } from '../parts/empty.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { countOf, durationOf, several, shareOf } from '../parts/words.ts';
import { Chart } from './chart.tsx';
import type { ViewProps } from './place.ts';
import { quantile, seriesOf } from './series.ts';

export function OverviewView({ known }: ViewProps): JSX.Element {
  const { state, order, calls } = known;
  const series = useMemo(() => {
    const lines = order.flatMap((n): CallLine | CallLine[] => calls.get(n) ?? []);
    return seriesOf(lines, Date.now());
  }, [order, state]);
  if (state === undefined || state.totals.calls + order.length === 0)
    return <Empty title="No calls yet">Counts and charts appear with the first call.</Empty>;
  const { totals } = state;
  return (
    <Scroll name="scroll" label="Overview">
      <div class="column">
        <dl class="tiles">
          <Tile name="Calls" value={countOf(totals.calls)} />
          <Tile name="Succeeded" value={countOf(totals.succeeded)} />
          <Tile
            name="Denied"
            means="A rule, a policy, a quota or a person said no"
            value={countOf(totals.denied)}
            more={shareOf(totals.denied, totals.calls)}
          />
          <Tile
            name="Refused in all"
            means="The handler did not run: denied calls, invalid input, unknown tools, limits"
            value={countOf(totals.rejected)}
          />
          <Tile
            name="Failed"
            means="The handler may have run: it threw, failed or took too long"
            value={countOf(totals.failed)}
          />
          <Tile
            name="Suspended"
            means="Ended for now, until a person answers"
            value={countOf(totals.pending)}
          />
        </dl>
        <Charts series={series} />
        <Tools state={state} />
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
            unit={durationOf}
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
  /** What is counted, where the name does not say it. */
  readonly means?: string;
  readonly value: string;
  readonly more?: string;
}): JSX.Element {
  return (
    <div class="card tile" title={means}>
      <dt>{name}</dt>
      <dd>
        {value} {more === undefined ? null : <span class="soft small">{more}</span>}
      </dd>
    </div>
  );
}

/** Why a mean may be above the median that is shown. */
const bounds =
  'Durations are counted in steps of 1, 5, 10 ms and so on. A few slow calls raise the mean, and ' +
  'not the median.';

function Tools({ state }: { readonly state: InspectorState }): JSX.Element | null {
  const { tools, more } = state;
  if (tools.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>Tools</h2>
      </header>
      <div class="table">
        <table>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col" class="number">
                Denied
              </th>
              <th scope="col">Deny rate</th>
              <th scope="col" class="number">
                Mean
              </th>
              <th scope="col" class="number" title={bounds}>
                Median
              </th>
              <th scope="col" class="number" title={bounds}>
                95 %
              </th>
            </tr>
          </thead>
          <tbody>
            {tools.map((tool) => (
              <ToolRow key={tool.name} tool={tool} />
            ))}
          </tbody>
        </table>
      </div>
      {more.tools === 0 ? null : (
        <p class="body soft">{several(more.tools, 'more tool')} not shown.</p>
      )}
    </section>
  );
}

function ToolRow({ tool }: { readonly tool: InspectorState['tools'][number] }): JSX.Element {
  const { name, calls, failed, denied, timed, sumMs, buckets } = tool;
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
      <td class="number">{timed === 0 ? '–' : durationOf(sumMs / timed)}</td>
      <td class="number">{quantile(buckets, timed, 0.5)}</td>
      <td class="number">{quantile(buckets, timed, 0.95)}</td>
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
      <div class="table">
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
      </div>
    </section>
  );
}
