/** Makes a rule from a call: what it tests, what it would have changed, and its text. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type {
  FieldTest,
  RuleField,
  RuleProposal,
  RuleRequest,
  RuleTrial,
} from '../../inspector-make-wire.ts';
import type { CallLine, VerdictEffect } from '../../inspector-wire.ts';
import { CopyBox } from '../parts/elements.tsx';
import { several } from '../parts/words.ts';
import { RuleOutcome } from './rule-outcome.tsx';
import { type Store, useAnswer } from './store.ts';
import { useTrial } from './use-trial.ts';

/** The test of one value, as it was chosen and typed. */
interface Choice {
  readonly test: FieldTest;
  /** Undefined until it is typed. */
  readonly typed?: string;
}
type Choices = ReadonlyMap<number, Choice>;

const effects: Readonly<Record<VerdictEffect, string>> = {
  deny: 'Deny',
  ask: 'Ask a person',
  allow: 'Allow',
};

/** Longer than 60 lines: the fields of one form, in their order. */
export function RuleMaker({
  store,
  calls,
  line,
  gone,
}: {
  readonly store: Store;
  readonly calls: ReadonlyMap<number, CallLine>;
  readonly line: CallLine;
  readonly gone: boolean;
}): JSX.Element {
  const { n, principal, tool } = line;
  const { answer: proposal, trouble: refused } = useAnswer<RuleProposal>(
    store,
    `rule?n=${n}`,
    gone ? undefined : '',
  );
  const [effect, setEffect] = useState<VerdictEffect | undefined>(undefined);
  const [named, setNamed] = useState(false);
  const [choices, setChoices] = useState<Choices | undefined>(undefined);
  useEffect(() => {
    if (proposal === undefined || choices !== undefined) return;
    const first = proposal.fields.findIndex(({ tests }) => tests.length > 0);
    setChoices(new Map(first === -1 ? [] : [[first, { test: 'equals' }]]));
    setEffect(proposal.effect);
  }, [proposal]);
  const request =
    effect === undefined || choices === undefined
      ? undefined
      : requestOf(n, effect, named, choices);
  const wrong = request === 'no number';
  const { answer, isCurrent, trouble } = useTrial<RuleTrial>(
    store,
    'rule',
    wrong ? undefined : request,
    gone,
  );
  const set = (at: number, choice: Choice | undefined): void => {
    const next = new Map(choices);
    if (choice === undefined) next.delete(at);
    else next.set(at, choice);
    setChoices(next);
  };
  return (
    <section class="maker part" aria-label="Make a rule">
      <h3>Make a rule</h3>
      {proposal === undefined || choices === undefined ? (
        <p class="notice warn">{refused === '' ? 'The call is read …' : refused}</p>
      ) : (
        <>
          <fieldset class="row">
            <legend class="unseen">What the rule does</legend>
            {(Object.keys(effects) as VerdictEffect[]).map((one) => (
              <label key={one} class="row">
                <input
                  type="radio"
                  name={`effect ${n}`}
                  checked={effect === one}
                  onChange={() => setEffect(one)}
                />
                {effects[one]}
              </label>
            ))}
          </fieldset>
          <p class="soft small wrap">
            {choices.size + Number(named) === 0
              ? `Every call of ${tool}.`
              : `Calls of ${tool} for which all of these hold:`}
          </p>
          <ul class="choices">
            {principal === '' ? null : (
              <li>
                <label class="row">
                  <input
                    type="checkbox"
                    checked={named}
                    onChange={({ currentTarget }) => setNamed(currentTarget.checked)}
                  />
                  <span class="wrap">
                    only for <span class="mono">{principal}</span>
                  </span>
                </label>
              </li>
            )}
            {proposal.fields.map((field, at) => (
              <FieldChoice
                key={at}
                field={field}
                choice={choices.get(at)}
                choose={(choice) => set(at, choice)}
              />
            ))}
          </ul>
          {proposal.more === 0 ? null : (
            <p class="soft small">{several(proposal.more, 'more value')} cannot be chosen here.</p>
          )}
          {wrong ? <p class="notice bad">Expected a number as the bound.</p> : null}
          {trouble === '' ? null : <p class="notice warn">{trouble}</p>}
          {answer === undefined ? null : (
            <>
              <RuleOutcome trial={answer} calls={calls} isCurrent={isCurrent} />
              <CopyBox label="The rule" text={answer.yaml} stale={!isCurrent} />
            </>
          )}
        </>
      )}
    </section>
  );
}

function requestOf(
  n: number,
  effect: VerdictEffect,
  principal: boolean,
  choices: Choices,
): RuleRequest | 'no number' {
  const fields: RuleRequest['fields'][number][] = [];
  for (const [at, { test, typed }] of [...choices].sort(([a], [b]) => a - b)) {
    if (typed === undefined || test === 'equals') fields.push({ at, test });
    else if (test === 'glob') fields.push({ at, test, value: typed });
    else {
      const value = typed.trim() === '' ? Number.NaN : Number(typed);
      if (!Number.isFinite(value)) return 'no number';
      fields.push({ at, test, value });
    }
  }
  return { n, effect, principal, fields };
}

const testWords: Readonly<Record<FieldTest, string>> = {
  equals: 'is',
  glob: 'matches',
  gte: 'is at least',
  lte: 'is at most',
};
const reasons: Readonly<Record<NonNullable<RuleField['why']>, string>> = {
  redacted: 'is hidden here, so a rule cannot name it',
  long: 'is too long for a rule',
  never: 'is nothing that a call of the tool can have',
};

function FieldChoice({
  field,
  choice,
  choose,
}: {
  readonly field: RuleField;
  readonly choice: Choice | undefined;
  readonly choose: (choice: Choice | undefined) => void;
}): JSX.Element {
  const { path, value, tests, glob, why } = field;
  if (why !== undefined)
    return (
      <li class="soft small wrap">
        <span class="mono">{path}</span> {reasons[why]}
      </li>
    );
  const test = choice?.test ?? 'equals';
  const initial = test === 'glob' ? (glob ?? '') : value;
  return (
    <li class="row">
      <label class="row">
        <input
          type="checkbox"
          checked={choice !== undefined}
          onChange={({ currentTarget }) =>
            choose(currentTarget.checked ? { test: 'equals' } : undefined)
          }
        />
        <span class="mono wrap">{path}</span>
      </label>
      <select
        class="field"
        aria-label={`How ${path} is tested`}
        value={test}
        onChange={({ currentTarget }) => choose({ test: currentTarget.value as FieldTest })}
      >
        {tests.map((one) => (
          <option key={one} value={one}>
            {testWords[one]}
          </option>
        ))}
      </select>
      {test === 'equals' ? (
        <span class="mono soft cut grow" title={value}>
          {value}
        </span>
      ) : (
        <input
          class="field mono grow"
          aria-label={`${path} ${testWords[test]}`}
          maxLength={1_000}
          value={choice?.typed ?? initial}
          onInput={({ currentTarget }) => choose({ test, typed: currentTarget.value })}
        />
      )}
    </li>
  );
}
