/** What a rule would have changed. */
import type { JSX } from 'preact';
import type { RuleTrial } from '../../inspector-make-wire.ts';
import type { CallLine } from '../../inspector-wire.ts';
import { Badge, toneOf } from '../parts/elements.tsx';
import { countOf, several, shortTimeOf } from '../parts/words.ts';

export function RuleOutcome({
  trial,
  calls,
  isCurrent,
}: {
  readonly trial: RuleTrial;
  readonly calls: ReadonlyMap<number, CallLine>;
  /** Whether it is about the rule as it is chosen now. */
  readonly isCurrent: boolean;
}): JSX.Element {
  const { changed, first } = trial;
  return (
    <div class={`part ${isCurrent ? '' : 'outdated'}`} role="status" aria-label="Tried at once">
      <p class="notice">
        {isCurrent ? '' : 'Before your last change: '}
        {changesText(trial)}
      </p>
      {first.length === 0 ? null : (
        <ul class="changes">
          {first.map(({ n, before, after }) => (
            <li key={n} class="row small">
              <Change before={before} after={after} />
              <span class="wrap grow">{aboutCall(n, calls.get(n))}</span>
            </li>
          ))}
        </ul>
      )}
      {changed > first.length ? (
        <p class="soft small">and {countOf(changed - first.length)} more.</p>
      ) : null}
      {doubtsOf(trial).map((text) => (
        <p key={text} class="soft small">
          {text}
        </p>
      ))}
    </div>
  );
}

function Change({
  before,
  after,
}: Pick<RuleTrial['first'][number], 'before' | 'after'>): JSX.Element {
  return (
    <span class="row">
      <Badge tone={toneOf(before)}>{before}</Badge>
      <span aria-hidden="true">→</span>
      <span class="unseen">becomes</span>
      <Badge tone={toneOf(after)}>{after}</Badge>
    </span>
  );
}

function aboutCall(n: number, line: CallLine | undefined): string {
  if (line === undefined) return `call ${n}`;
  const { at, principal, sessionId, preview } = line;
  const who = principal === '' ? sessionId : principal;
  return [shortTimeOf(at), who, preview].filter((text) => text !== '').join(' · ');
}

/** `2 of the 30 recorded calls would change: 1 from allow to deny, 1 from ask to deny.` */
function changesText({ calls, matched, changed, changes }: RuleTrial): string {
  const kinds = changes.map(
    ({ before, after, calls: n }) => `${countOf(n)} from ${before} to ${after}`,
  );
  if (changed > 0)
    return (
      `${countOf(changed)} of the ${several(calls, 'recorded call')} would change: ` +
      `${kinds.join(', ')}.`
    );
  const none = `None of the ${several(calls, 'recorded call')} would change`;
  return matched === 0
    ? `${none}. The rule matches none of them.`
    : `${none}. The rule matches ${countOf(matched)} of them, which other rules, quotas or the ` +
        'default decide as it does, or more strictly.';
}

function doubtsOf({ unjudged, redacted, unasked, withoutFacts }: RuleTrial): readonly string[] {
  const { cut, unknown, invalid } = unjudged;
  const reasons = [
    ...(cut === 0 ? [] : [`${several(cut, 'call')} whose input is not kept whole`]),
    ...(unknown === 0 ? [] : [`${several(unknown, 'call')} of unknown tools`]),
    ...(invalid === 0
      ? []
      : [
          `${several(invalid, 'call')} whose arguments do not fit the tool ` +
            '(refused as invalid_input, before any rule)',
        ]),
  ];
  const told = (count: number, text: string): string[] =>
    count === 0 ? [] : [`${several(count, 'call')} ${text}`];
  return [
    ...(reasons.length === 0 ? [] : [`Not judged: ${reasons.join(', ')}.`]),
    ...told(redacted, 'with hidden values: the rules saw [redacted] in their place.'),
    ...told(unasked, 'about which code of the application decides too. It was not asked.'),
    ...told(withoutFacts, 'of sessions that are not open: their facts are not known any more.'),
  ];
}
