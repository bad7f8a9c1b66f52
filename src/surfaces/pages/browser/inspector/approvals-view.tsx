/** The questions that wait for a person. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApprovalLine } from '../../inspector-wire.ts';
import { Badge } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { JsonText, parsed } from '../parts/json-text.tsx';
import { OriginsTable } from '../parts/origins-table.tsx';
import { request } from '../parts/server.ts';
import { Ticked, withoutTicks } from '../parts/ticked.tsx';
import { durationOf } from '../parts/words.ts';
import type { ViewProps } from './place.ts';
import type { Store } from './store.ts';

const nameKept = 'host-tools-name';

export function ApprovalsView({ store, known }: ViewProps): JSX.Element {
  const [by, setBy] = useState(() => sessionStorage.getItem(nameKept) ?? '');
  const [now, setNow] = useState(Date.now());
  const [said, say] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const approvals = known.state?.approvals ?? [];
  return (
    <div class="scroll">
      <div class="column">
        <p class={said === '' ? 'unseen' : 'notice good'} role="status">
          {said}
        </p>
        {known.state?.approvalsUnread === true ? (
          <p class="notice warn">
            The store of approvals cannot be read, so suspended calls are missing here.
          </p>
        ) : null}
        {approvals.length === 0 ? (
          <Empty title="Nothing waits for a person">
            A call that a rule or a tool asks about appears here, with what it would do and where
            its arguments came from.
          </Empty>
        ) : (
          <>
            <label class="named who-answers">
              Your name, which goes into the record
              <input
                class="field"
                value={by}
                autocomplete="name"
                maxLength={200}
                onInput={({ currentTarget }) => {
                  setBy(currentTarget.value);
                  sessionStorage.setItem(nameKept, currentTarget.value);
                }}
              />
            </label>
            {approvals.map((asked) => (
              <Question key={asked.id} store={store} asked={asked} by={by} now={now} say={say} />
            ))}
            {(known.state?.more.approvals ?? 0) > 0 ? (
              <p class="soft">More are waiting. They appear as these are answered.</p>
            ) : null}
          </>
        )}
      </div>
    </div>
  );
}

const riskTones = { low: 'plain', medium: 'warn', high: 'bad' } as const;

/** Longer than 60 lines: the parts of the question, in their order. */
function Question({
  store,
  asked,
  by,
  now,
  say,
}: {
  readonly store: Store;
  readonly asked: ApprovalLine;
  readonly by: string;
  readonly now: number;
  readonly say: (text: string) => void;
}): JSX.Element {
  const [message, setMessage] = useState('');
  const [trouble, setTrouble] = useState('');
  const [sent, setSent] = useState(false);
  const answer = async (decision: 'allow_once' | 'reject_once'): Promise<void> => {
    setTrouble('');
    setSent(true);
    try {
      const named = by.trim() === '' ? 'inspector' : by;
      await request(store.token, 'answer', { id: asked.id, decision, by: named, message });
      say(`${decision === 'allow_once' ? 'Allowed' : 'Rejected'}: ${asked.title}`);
    } catch (error) {
      setSent(false);
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  };
  const risk = asked.risk as keyof typeof riskTones | undefined;
  return (
    <article class="card question" aria-label={withoutTicks(asked.title)}>
      <header>
        <h2 class="wrap grow">
          <Ticked text={asked.title} />
        </h2>
        {risk === undefined ? null : <Badge tone={riskTones[risk] ?? 'plain'}>{risk} risk</Badge>}
        <span class="soft small">
          {asked.expiresAt > now ? `expires in ${durationOf(asked.expiresAt - now)}` : 'expired'}
        </span>
      </header>
      <div class="body">
        {asked.message === undefined ? null : <p class="pre wrap">{asked.message}</p>}
        <dl class="facts">
          <dt>Tool</dt>
          <dd class="mono">{asked.tool}</dd>
          <dt>Session</dt>
          <dd class="mono">
            {asked.sessionId}
            {asked.principal === '' ? '' : `, for ${asked.principal}`}
          </dd>
          <dt>Asked by</dt>
          <dd class="mono">
            {asked.ruleId ?? asked.layer}
            {asked.ruleId === undefined ? '' : ` (${asked.layer})`}
          </dd>
        </dl>
        <JsonText value={parsed(asked.input)} label={`Input of ${asked.tool}`} />
        {asked.hiddenFields.length === 0 ? null : (
          <p class="soft small wrap">
            Hidden because they are secret: {asked.hiddenFields.join(', ')}
          </p>
        )}
        {asked.origins.length === 0 ? null : <OriginsTable origins={asked.origins} />}
        {trouble === '' ? null : (
          <p class="notice bad" role="alert">
            {trouble}
          </p>
        )}
        <label class="named">
          Message to the agent, if you reject
          <input
            class="field"
            value={message}
            maxLength={4_000}
            onInput={({ currentTarget }) => setMessage(currentTarget.value)}
          />
        </label>
        <div class="row">
          <button
            type="button"
            class="button yes"
            disabled={sent}
            onClick={() => void answer('allow_once')}
          >
            Allow once<span class="unseen">: {asked.title}</span>
          </button>
          <button
            type="button"
            class="button no"
            disabled={sent}
            onClick={() => void answer('reject_once')}
          >
            Reject<span class="unseen">: {asked.title}</span>
          </button>
        </div>
      </div>
    </article>
  );
}
