/** Everything about one call. */
import type { JSX, RefObject } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { UndoOutcome } from '../../approvals-wire.ts';
import type { CallDetail, CallLine, CallStage } from '../../inspector-wire.ts';
import { Badge, Part, parsed, Scroll, toneOf } from '../parts/elements.tsx';
import { OriginsTable } from '../parts/origins-table.tsx';
import { ProgramSource } from '../parts/program-source.tsx';
import { ask } from '../parts/server.ts';
import { ShownValue, Text } from '../parts/shown-value.tsx';
import { TakeBack } from '../parts/take-back.tsx';
import { agentsOf, durationOf, labelsOf, timeOf } from '../parts/words.ts';
import { type CallNode, isProgram, nodeIn, treeOf } from './call-nodes.ts';
import { CallTree } from './call-tree.tsx';
import { Outcome } from './in-words.tsx';
import type { Place } from './place.ts';
import { RuleMaker } from './rule-maker.tsx';
import { type Store, useAnswer } from './store.ts';
import { TestMaker } from './test-maker.tsx';

/** Longer than 60 lines: the parts of the page, in their order. */
export function CallDetailPane({
  store,
  calls,
  order,
  line,
  gone,
  pane,
  back,
  choose,
  go,
}: {
  readonly store: Store;
  readonly calls: ReadonlyMap<number, CallLine>;
  /** Their numbers: a new list after each change of a call. */
  readonly order: readonly number[];
  readonly line: CallLine;
  /** Whether the server does not have the call any more. */
  readonly gone: boolean;
  readonly pane: RefObject<HTMLElement | null>;
  readonly back: () => void;
  /** Shows another call. */
  readonly choose: (n: number) => void;
  readonly go: (to: Place) => void;
}): JSX.Element {
  const version = gone ? undefined : line;
  const { answer, trouble } = useAnswer<CallDetail>(store, `call?n=${line.n}`, version);
  const [making, make] = useState<'rule' | 'test' | undefined>(undefined);
  const kept = answer?.kept;
  // The same values as long as the texts are the same, so that what is unfolded stays so.
  const input = useMemo(() => parsed(kept?.input ?? 'null'), [kept?.input]);
  const tree = useMemo(() => treeOf(calls.values(), line), [calls, order, line]);
  const source = sourceOf(tree, line, input);
  const result = useMemo(() => parsed(kept?.result ?? 'null'), [kept?.result]);
  return (
    <section
      class="detail"
      ref={pane}
      tabIndex={-1}
      aria-label={`Call of ${line.tool}`}
      onKeyDown={({ key, target }) => {
        // In a field, Escape belongs to what is typed there.
        const isField = target instanceof Element && target.matches('input.field, select');
        if (key === 'Escape' && !isField) back();
      }}
    >
      <div class="detail-head">
        <h2 class="wrap grow">{line.tool}</h2>
        <button type="button" class="button" onClick={back}>
          Close<span class="unseen"> the details of the call</span>
        </button>
      </div>
      <div class="row">
        <Outcome line={line} />
        {line.reason === undefined || line.status === 'succeeded' ? null : (
          <Badge>{line.reason}</Badge>
        )}
        <span class="soft small">
          {line.durationMs === undefined ? '' : `after ${durationOf(line.durationMs)}`}
        </span>
      </div>
      {kept?.message === undefined ? null : (
        <p class={`notice ${line.status === 'pending' ? 'warn' : 'bad'}`}>{kept.message}</p>
      )}
      {trouble === '' ? null : <p class="notice warn">{trouble}</p>}
      {gone ? <p class="notice warn">The server does not have this call any more.</p> : null}
      <p class="row">
        {(['rule', 'test'] as const).map((what) => (
          <button
            key={what}
            type="button"
            class="button"
            aria-expanded={making === what}
            onClick={() => make(making === what ? undefined : what)}
          >
            {what === 'rule' ? 'Make a rule' : 'Make a policy test'}
          </button>
        ))}
      </p>
      {making === 'rule' ? <RuleMaker store={store} calls={calls} line={line} gone={gone} /> : null}
      {making === 'test' ? <TestMaker store={store} line={line} gone={gone} /> : null}
      {answer?.undo === true ? (
        <TakeBack
          key={line.n}
          tool={line.tool}
          take={() => ask<UndoOutcome>(store.token, 'undo', { n: line.n })}
        />
      ) : null}
      {line.phase === 'approval' || line.status === 'pending' ? (
        <p>
          <button
            type="button"
            class="button main"
            onClick={() => go({ view: 'approvals', question: line })}
          >
            Go to the question
          </button>
        </p>
      ) : null}
      {tree === undefined ? null : <CallTree tree={tree} line={line} choose={choose} />}
      {kept === undefined ? null : (
        <>
          {source === undefined ? null : (
            <Part title="Program">
              <ProgramSource source={source} />
            </Part>
          )}
          {kept.logs === undefined ? null : <Logs logs={kept.logs} />}
          <Stages stages={kept.stages} end={line.durationMs} />
          <Verdict line={line} shadow={kept.shadow} />
          {kept.origins.length === 0 ? null : (
            <Part title="Origins of arguments">
              <OriginsTable origins={kept.origins} />
            </Part>
          )}
          {source === undefined ? <ShownValue value={input} title="Input" label="Input" /> : null}
          {kept.result === undefined ? null : (
            <ShownValue
              value={result}
              title={line.status === 'succeeded' ? 'Result' : 'Details'}
              label="Result"
            />
          )}
          {kept.told.length === 0 ? null : <Told told={kept.told} />}
        </>
      )}
      {answer !== undefined && kept === undefined ? (
        <p class="notice">This call is so old that only its line is kept.</p>
      ) : null}
      <Who line={line} kept={kept} />
    </section>
  );
}

/** The source of a program; undefined for any other call. */
function sourceOf(
  tree: CallNode | undefined,
  { callId }: CallLine,
  input: unknown,
): string | undefined {
  const node = tree && nodeIn(tree, callId);
  if (node === undefined || !isProgram(node)) return undefined;
  const code = typeof input === 'object' && input !== null && 'code' in input && input.code;
  return typeof code === 'string' ? code : undefined;
}

function Logs({ logs }: { readonly logs: readonly string[] }): JSX.Element {
  return (
    <Part title="Logged by the program">
      <Scroll name="logs" label="Lines that the program has logged">
        <ol class="mono small" aria-label="Logged by the program">
          {logs.map((text, at) => (
            <li key={at} class="pre wrap">
              <Text text={text} />
            </li>
          ))}
        </ol>
      </Scroll>
    </Part>
  );
}

const stageNames: Readonly<Record<CallStage['name'], string>> = {
  arrived: 'Arrived',
  judged: 'Judged',
  asked: 'A person is asked',
  answered: 'Answered',
  started: 'Handler started',
  ended: 'Ended',
  late: 'Settled late',
};

/** The stages with a bar for the time up to the next one. */
function Stages({
  stages,
  end,
}: {
  readonly stages: readonly CallStage[];
  readonly end: number | undefined;
}): JSX.Element {
  const whole = Math.max(end ?? 0, stages.at(-1)?.ms ?? 0, 0.001);
  return (
    <Part title="Stages">
      <ol class="stages">
        {stages.map(({ name, ms, note }, at) => {
          const until = stages[at + 1]?.ms ?? (name === 'ended' || name === 'late' ? ms : whole);
          return (
            <li key={at}>
              <span class="stage-time mono soft">{at === 0 ? '0' : `+${durationOf(ms)}`}</span>
              <span class="stage-text">
                <strong>{stageNames[name]}</strong> <span class="soft wrap">{note}</span>
                <span class="track" aria-hidden="true">
                  <i
                    class={name}
                    style={{
                      left: `${at === 0 ? 0 : Math.min(99, (100 * ms) / whole)}%`,
                      width: `${Math.max(0.8, (100 * (until - (at === 0 ? 0 : ms))) / whole)}%`,
                    }}
                  />
                </span>
              </span>
            </li>
          );
        })}
      </ol>
    </Part>
  );
}

function Verdict({
  line,
  shadow,
}: {
  readonly line: CallLine;
  readonly shadow: NonNullable<CallDetail['kept']>['shadow'];
}): JSX.Element | null {
  const { effect, ruleId, byQuota, layer } = line;
  if (effect === undefined && ruleId === undefined && shadow.length === 0) return null;
  return (
    <Part title="Verdict">
      <p class="row">
        {effect === undefined ? null : <Badge tone={toneOf(effect)}>{effect}</Badge>}
        {ruleId === undefined ? (
          <span class="soft small">{effect === undefined ? '' : 'No rule decided.'}</span>
        ) : (
          <span class="wrap">
            by {byQuota === true ? 'quota ' : ''}
            <code>{ruleId}</code>
          </span>
        )}
        {layer === undefined ? null : <span class="soft small wrap">layer {layer}</span>}
      </p>
      {shadow.map(({ ruleId: id, layer: of, wouldBe, was }) => (
        <p key={id} class="row">
          <Badge tone="shadow">shadow</Badge>
          <span class="wrap small">
            <code>{id}</code> ({of}) would have made {was} into {wouldBe}
          </span>
        </p>
      ))}
    </Part>
  );
}

function Told({ told }: { readonly told: NonNullable<CallDetail['kept']>['told'] }): JSX.Element {
  return (
    <Part title="Told by the handler">
      <ul class="told">
        {told.map(({ ms, name, data }, at) => (
          <li key={at} class="small">
            <span class="mono soft">+{durationOf(ms)}</span> <strong>{name}</strong>{' '}
            <code class="wrap">{data}</code>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Who({
  line,
  kept,
}: {
  readonly line: CallLine;
  readonly kept: CallDetail['kept'] | undefined;
}): JSX.Element {
  const facts: [string, string | undefined][] = [
    ['Arrived', timeOf(line.at)],
    ['Session', line.sessionId],
    ['Principal', line.principal],
    ['Labels', labelsOf(line.actor)],
    ['Through', agentsOf(line.actor)],
    ['Surface', line.surface === '' ? 'direct call' : line.surface],
    ['Call', line.callId],
    ['Attempt', line.attempt === 1 ? undefined : String(line.attempt)],
    ['Called by', line.parentCallId],
    ['Tool from', kept?.toolSource],
    ['Runs in', kept?.executor],
    ['Version', kept?.version],
    ['Fingerprint', kept?.fingerprint],
  ];
  return (
    <Part title="Who and where">
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === undefined || value === '' ? null : (
            <>
              <dt>{name}</dt>
              <dd class="mono">{value}</dd>
            </>
          ),
        )}
      </dl>
    </Part>
  );
}
