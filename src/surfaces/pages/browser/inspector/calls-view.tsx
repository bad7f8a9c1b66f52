/** The calls as they happen, and one of them in detail. */
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { CallLine } from '../../inspector-wire.ts';
import { Badge, Empty } from '../parts/elements.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import {
  agentsOf,
  dayOf,
  durationOf,
  fractionOf,
  labelsOf,
  several,
  shortTimeOf,
} from '../parts/words.ts';
import { CallDetailPane } from './call-detail-pane.tsx';
import { Outcome } from './in-words.tsx';
import type { ViewProps } from './place.ts';

const rowHeight = 52;

type Kind = 'all' | 'running' | 'succeeded' | 'denied' | 'failed' | 'shadow';

const kinds: Readonly<Record<Kind, [label: string, fits: (line: CallLine) => boolean]>> = {
  all: ['All calls', () => true],
  running: ['In flight', ({ phase }) => phase !== 'ended'],
  succeeded: ['Succeeded', ({ status }) => status === 'succeeded'],
  denied: ['Refused', ({ status }) => status === 'rejected'],
  failed: ['Failed or cancelled', ({ status }) => status === 'failed' || status === 'cancelled'],
  shadow: ['Shadow rule differs', ({ shadowed }) => shadowed === true],
};

/** A call of one inspector. */
interface Chosen {
  readonly n: number;
  readonly run: string | undefined;
}

/** Longer than 60 lines: the parts of the page, in their order. */
export function CallsView({ store, known, place, go }: ViewProps): JSX.Element {
  const run = known.hello?.run;
  const [chosen, setChosen] = useState<Chosen | undefined>(
    place.call === undefined ? undefined : { n: place.call, run },
  );
  const held = useRef<CallLine | undefined>(undefined);
  const [text, setText] = useState(place.text ?? '');
  const [kind, setKind] = useState<Kind>('all');
  const [frozen, setFrozen] = useState<readonly number[] | undefined>(undefined);
  const list = useRef<HTMLDivElement>(null);
  const detail = useRef<HTMLElement>(null);
  const { calls } = known;
  const order = frozen ?? known.order;
  const keys = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const [, fits] = kinds[kind];
    const found: number[] = [];
    for (let at = order.length - 1; at >= 0; at--) {
      const line = calls.get(order[at] as number);
      if (line !== undefined && fits(line) && holds(line, words)) found.push(line.n);
    }
    return found;
  }, [order, text, kind, calls]);
  const choose = (n: number): void => {
    held.current = undefined;
    setChosen({ n, run });
  };
  const present = chosen?.run === run && chosen !== undefined ? calls.get(chosen.n) : undefined;
  if (present !== undefined) held.current = present;
  // What a person reads stays, even if the server has forgotten the call or is another one.
  const line = chosen === undefined ? undefined : held.current;
  const back = (): void => {
    held.current = undefined;
    setChosen(undefined);
    list.current?.querySelector<HTMLElement>('[role=listbox]')?.focus();
  };
  return (
    <div class={`calls ${line === undefined ? '' : 'with-detail'}`} ref={list}>
      <section class="list" aria-label="List of calls">
        <div class="tools-row">
          <input
            class="field grow"
            type="search"
            placeholder="Find a tool, person, argument, rule …"
            aria-label="Find calls"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <select
            class="field"
            aria-label="Which calls"
            value={kind}
            onChange={({ currentTarget }) => setKind(currentTarget.value as Kind)}
          >
            {(Object.keys(kinds) as Kind[]).map((name) => (
              <option key={name} value={name}>
                {kinds[name][0]}
              </option>
            ))}
          </select>
          <button
            type="button"
            class="button"
            aria-pressed={frozen !== undefined}
            onClick={() => setFrozen(frozen === undefined ? known.order : undefined)}
          >
            {frozen === undefined ? 'Pause' : 'Resume'}
          </button>
        </div>
        <p class="unseen" role="status">
          {several(keys.length, 'call')} shown
        </p>
        <div class="head call-row" aria-hidden="true">
          <span class="when">Time</span>
          <span class="tool">Tool, who, arguments</span>
          <span class="end">Outcome</span>
          <span class="took">Took</span>
        </div>
        {keys.length === 0 ? (
          <Empty title={order.length === 0 ? 'No calls yet' : 'No call fits'}>
            {order.length === 0
              ? 'Calls appear here the moment they arrive.'
              : 'Change the text or the choice above.'}
          </Empty>
        ) : (
          <VirtualList
            label="Calls, newest first"
            keys={keys}
            rowHeight={rowHeight}
            chosen={chosen?.n}
            choose={choose}
            enter={() => detail.current?.focus()}
            row={(key) => <CallRow line={calls.get(key)} />}
          />
        )}
      </section>
      {line === undefined ? null : (
        <CallDetailPane
          key={`${chosen?.run} ${line.n}`}
          store={store}
          calls={calls}
          order={known.order}
          line={line}
          gone={present === undefined}
          pane={detail}
          back={back}
          choose={choose}
          go={go}
        />
      )}
    </div>
  );
}

function holds(line: CallLine, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { tool, sessionId, principal, surface, callId, ruleId, code, reason, status } = line;
  const { preview } = line;
  const text = [tool, sessionId, principal, surface, callId, ruleId, code, reason, status, preview]
    .concat(agentsOf(line.actor) ?? [], labelsOf(line.actor) ?? [])
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

function CallRow({ line }: { readonly line: CallLine | undefined }): JSX.Element | null {
  if (line === undefined) return null;
  const { at, tool, sessionId, principal, preview, durationMs } = line;
  const { shadowed, ruleId, byQuota, parentCallId } = line;
  const agents = agentsOf(line.actor);
  const person = [principal, ...(agents === undefined ? [] : [agents])].join(' › ');
  const who = person === '' ? sessionId : `${person} in ${sessionId}`;
  // A call of an audit log may be old.
  const day = dayOf(at);
  return (
    <div class="call-row">
      <span class="when mono soft">
        {day === '' ? shortTimeOf(at) : `${day} ${shortTimeOf(at).slice(0, 5)}`}
        {day === '' ? <span class="wide">{fractionOf(at)}</span> : null}
      </span>
      <span class="tool cut" title={tool}>
        {parentCallId === undefined ? null : (
          <span class="soft" title="Called by another tool, or by a program">
            ↳{' '}
          </span>
        )}
        {tool}
      </span>
      <span class="end">
        <Outcome line={line} />
        {shadowed ? <Badge tone="shadow">shadow</Badge> : null}
        {ruleId === undefined || line.status === 'succeeded' ? null : (
          <span class="soft small cut" title={ruleId}>
            {byQuota === true ? 'quota ' : ''}
            {ruleId}
          </span>
        )}
      </span>
      <span class="took mono soft">{durationOf(durationMs)}</span>
      <span class="about small soft">
        <span class="who cut" title={who}>
          {person === '' ? sessionId : person}
          {person === '' ? null : <span class="wide"> in {sessionId}</span>}
        </span>
        <span class="arguments mono cut" title={preview}>
          {preview}
        </span>
      </span>
    </div>
  );
}
