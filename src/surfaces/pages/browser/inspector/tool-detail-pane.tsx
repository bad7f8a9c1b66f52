/** Everything about one tool, as a session has it. */
import type { JSX, RefObject } from 'preact';
import type { ToolDetail, VerdictView } from '../../inspector-wire.ts';
import { Badge, JsonText, Part, toneOf } from '../parts/elements.tsx';
import { countOf, durationOf } from '../parts/words.ts';
import { flagWords, howFound, whyHidden } from './in-words.tsx';
import { type Store, useAnswer } from './store.ts';

export function ToolDetailPane({
  store,
  query,
  name,
  version,
  pane,
  back,
}: {
  readonly store: Store;
  readonly query: string;
  readonly name: string;
  readonly version: unknown;
  readonly pane: RefObject<HTMLElement | null>;
  readonly back: () => void;
}): JSX.Element {
  const { answer, trouble } = useAnswer<ToolDetail>(store, `tool?${query}`, version);
  return (
    <section
      class="detail"
      ref={pane}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to reach what scrolls.
      tabIndex={0}
      aria-label={`Tool ${name}`}
      onKeyDown={({ key }) => {
        if (key === 'Escape') back();
      }}
    >
      <div class="detail-head">
        <h2 class="wrap grow">{answer?.title ?? name}</h2>
        <button type="button" class="button" onClick={back}>
          Close<span class="unseen"> the details of the tool</span>
        </button>
      </div>
      {trouble === '' ? null : <p class="notice warn">{trouble}</p>}
      {answer === undefined ? null : <Detail tool={answer} />}
    </section>
  );
}

function Badges({ tool }: { readonly tool: ToolDetail }): JSX.Element {
  return (
    <p class="row">
      {tool.hiddenBy === undefined ? (
        <Badge tone="good">shown</Badge>
      ) : (
        <Badge tone="bad">hidden</Badge>
      )}
      {tool.requiresApproval ? <Badge tone="warn">needs approval</Badge> : null}
      {tool.annotations.map((word) => (
        <Badge key={word}>{flagWords[word] ?? word}</Badge>
      ))}
      {tool.tags.map((tag) => (
        <Badge key={tag} tone="accent">
          #{tag}
        </Badge>
      ))}
    </p>
  );
}

function Detail({ tool }: { readonly tool: ToolDetail }): JSX.Element {
  const { hiddenBy, unlockedBy, found, knobs, outputSchema, deprecated } = tool;
  const facts: [string, string | undefined][] = [
    ['Name', tool.name],
    ['Source', tool.source],
    ['Runs in', tool.executor],
    ['Version', tool.version],
    ['Timeout', tool.timeoutMs === undefined ? undefined : durationOf(tool.timeoutMs)],
    [
      'Output budget',
      tool.maxOutputChars === undefined ? undefined : `${countOf(tool.maxOutputChars)} characters`,
    ],
    ['Fingerprint', tool.fingerprint],
  ];
  return (
    <>
      <Badges tool={tool} />
      {hiddenBy === undefined ? null : (
        <p class="notice warn">Hidden: {whyHidden(hiddenBy, unlockedBy)}</p>
      )}
      {found === undefined ? null : <p class="notice wrap">{howFound(found)}</p>}
      {deprecated === undefined ? null : <p class="notice warn wrap">Deprecated: {deprecated}</p>}
      <p class="pre wrap">{tool.description}</p>
      <Part title="Policy, before any input is known">
        <Verdict verdict={tool.verdict} />
      </Part>
      {knobs === undefined ? null : (
        <Part title="Knobs">
          <JsonText value={knobs} label="Knobs" />
        </Part>
      )}
      <Part title="Input schema">
        <JsonText value={tool.inputSchema} label="Input schema" />
      </Part>
      {outputSchema === undefined ? null : (
        <Part title="Output schema">
          <JsonText value={outputSchema} label="Output schema" />
        </Part>
      )}
      <Part title="About">
        <dl class="facts">
          {facts.map(([name, value]) =>
            value === undefined ? null : (
              <>
                <dt>{name}</dt>
                <dd class="mono">{value}</dd>
              </>
            ),
          )}
        </dl>
      </Part>
    </>
  );
}

/** The decision of the gates, and each step that led to it. */
export function Verdict({ verdict }: { readonly verdict: VerdictView }): JSX.Element {
  const { effect, code, ruleId, layer, reason, steps } = verdict;
  return (
    <>
      <p class="row">
        {effect === undefined ? null : <Badge tone={toneOf(effect)}>{effect}</Badge>}
        {code === undefined ? null : <Badge tone="bad">{code}</Badge>}
        {reason === undefined ? null : <Badge>{reason}</Badge>}
        {ruleId === undefined ? null : (
          <span class="wrap small">
            by <code>{ruleId}</code>
          </span>
        )}
        {layer === undefined ? null : <span class="soft small">layer {layer}</span>}
      </p>
      {steps.length === 0 ? null : (
        <ol class="steps">
          {steps.map((step, at) => (
            <li key={at} class="small">
              <Step step={step} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** A step as words: its members, one after the other. */
function Step({ step }: { readonly step: unknown }): JSX.Element {
  const members = typeof step === 'object' && step !== null ? Object.entries(step) : [];
  return (
    <span class="row">
      {members.map(([name, value]) => (
        <span key={name} class="wrap">
          <span class="soft">{name}</span>{' '}
          <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
        </span>
      ))}
    </span>
  );
}
