/**
 * Asks the tool's `attributes` before the rules: what only the host knows about a value of the
 * input. If a function throws, takes too long or does not return JSON, the call is denied, unless
 * only shadow rules read the attribute.
 */
import type { Binding } from '../../core/call/binding.ts';
import type { Call, FoundCall } from '../../core/call/call.ts';
import { freshParse } from '../../core/call/fresh-parse.ts';
import { guarded, nonsense } from '../../core/call/guarded.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { emptyTally, type Gate, type Judge, type Tally } from '../../core/call/tally.ts';
import { Slot } from '../../core/slot.ts';
import type { ReadAttributes } from '../../core/tool/attributes.ts';
import {
  copyJson,
  deepFreeze,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { isThenable } from '../../values/maybe-promise.ts';

const gate: Gate = { source: 'tool', what: 'attributes', id: undefined, allowed: undefined };
const trialGate: Gate = { ...gate, trial: true };
const limits = { maxDepth: 32, maxValues: 100_000 };

/**
 * The gates that fill in the attributes that some rule, quota or policy of the tool can read.
 * Attributes that only shadow rules read are asked separately, since their failure must not change
 * the result of the call.
 */
export function attributeJudges({
  entry,
  session,
  status: { registryRules, sessionRules, gates },
}: Binding): readonly Judge[] {
  const { attributes } = entry.internals;
  if (attributes === undefined) return [];
  if (session.registry.settings.policies.length + session.policies.length > 0)
    return [attributeJudge(attributes)];
  const rules = [...registryRules, ...sessionRules];
  const enforced = rules.filter(({ shadow }) => !shadow);
  const needed = new Set([
    ...enforced.flatMap((rule) => rule.attributes),
    ...gates.flatMap((gate) => gate.attributes ?? []),
  ]);
  const tried = new Set(rules.flatMap((rule) => rule.attributes));
  const some = (read: (path: string) => boolean): ReadAttributes =>
    new Map([...attributes].filter(([path]) => read(path)));
  const judges: Judge[] = [];
  const wanted = some((path) => needed.has(path));
  if (wanted.size > 0) judges.push(attributeJudge(wanted));
  const trial = some((path) => tried.has(path) && !needed.has(path));
  if (trial.size > 0) judges.push(trialJudge(attributeJudge(trial, trialGate)));
  return judges;
}

function attributeJudge(wanted: ReadAttributes, own: Gate = gate): Judge {
  const run = (call: FoundCall): unknown => {
    const missing = missingOf(call, wanted);
    const parse = answersOf(call)?.parse;
    const input = parse === undefined ? freshParse(call) : parse.value;
    return input instanceof Promise
      ? input.then((value) => {
          knownAttributes.set(call.more, { ...knownOf(call), parse: { value } });
          return askAll(call, missing, value);
        })
      : askAll(call, missing, input);
  };
  return (call, tally) => {
    if (missingOf(call, wanted).size === 0) return undefined;
    if (tally.steps !== undefined && call.parsed === undefined) return undefined;
    return guarded(call, tally, own, run, keep)?.then((answer) => answer(tally));
  };
}

/** What is known about the call's input. Nothing is known about an input that has changed. */
function knownOf(call: FoundCall): KnownAttributes {
  const { canonical: input } = call;
  const known = answersOf(call);
  if (known?.input === input) return known;
  return { input, answers: new Map(), later: new Set(), parse: undefined };
}

/**
 * Forgets the answers, so that they are asked again after a wait. In a pass it keeps those that
 * were waited for, since they would have to be waited for again.
 */
export function forgetAnswers(call: FoundCall, isPass: boolean): void {
  const { extra } = call;
  if (extra === undefined || answersOf(call) === undefined) return;
  if (!isPass) return knownAttributes.delete(extra);
  const known = knownOf(call);
  const answers = new Map([...known.answers].filter(([path]) => known.later.has(path)));
  knownAttributes.set(call.more, { ...known, answers });
}

/**
 * Asks for what only shadow rules read. A failure is reported, and the shadow rules are not tried,
 * but nothing is denied. After a failure it is not asked again about the same input.
 */
function trialJudge(judge: Judge): Judge {
  return (call, { steps }) => {
    const { more } = call;
    if (unannouncedAttributes.of(more) === call.canonical) return undefined;
    if (steps !== undefined && call.parsed === undefined) return undefined;
    const tally = emptyTally(undefined);
    const note = (): void => {
      if (tally.deny !== undefined) unannouncedAttributes.set(more, call.canonical);
    };
    const later = judge(call, tally);
    return later === undefined ? note() : later.then(note);
  };
}

/**
 * What has not been asked yet about the call's input. If nothing was waited for, a call that is
 * judged again asks only what new rules read.
 */
function missingOf(call: FoundCall, wanted: ReadAttributes): ReadAttributes {
  const known = answersOf(call);
  if (known === undefined || known.input !== call.canonical) return wanted;
  let missing: Map<string, NonNullable<ReturnType<ReadAttributes['get']>>> | undefined;
  for (const [path, attribute] of wanted) {
    if (known.answers.has(path)) continue;
    missing ??= new Map();
    missing.set(path, attribute);
  }
  return missing ?? nothing;
}

const nothing: ReadAttributes = new Map();

type Told = readonly [path: string, answer: unknown, later?: boolean];

/** Asks for all of them concurrently. Absent values are not asked about. */
function askAll(
  call: FoundCall,
  wanted: ReadAttributes,
  input: unknown,
): readonly Told[] | Promise<readonly Told[]> {
  const context = call.info();
  const answers: Told[] = [];
  // The call fails with the first error only, but the host must learn of each.
  const report = (error: unknown): void =>
    reportFault(call, error, gate.what, 'another attribute of the call failed too');
  try {
    for (const [path, { segments, ask }] of wanted) {
      const value = valueAt(input, segments, 0);
      answers.push([path, value === undefined ? undefined : ask(value, context)]);
    }
  } catch (error) {
    for (const [, answer] of answers) Promise.resolve(answer).then(undefined, report);
    throw error;
  }
  if (!answers.some(([, answer]) => isThenable(answer))) return answers;
  let hasFailed = false;
  const settle = async ([path, answer]: Told): Promise<Told> => {
    try {
      return [path, await answer, isThenable(answer)];
    } catch (error) {
      if (hasFailed) report(error);
      hasFailed = true;
      throw error;
    }
  };
  return Promise.all(answers.map(settle));
}

function keep(call: FoundCall, tally: Tally, own: Gate, given: unknown): void {
  const known = knownOf(call);
  const answers = new Map(known.answers);
  const later = new Set(known.later);
  for (const [path, answer, isLater] of given as readonly Told[]) {
    const copy = answer === undefined ? undefined : copyJson(answer, limits);
    if (copy?.ok === false)
      return nonsense(call, tally, own, `JSON data about \`${path}\``, answer);
    answers.set(path, deepFreeze(copy?.value));
    if (isLater === true) later.add(path);
    else later.delete(path);
  }
  knownAttributes.set(call.more, { ...known, answers, later });
}

/**
 * The value at a path; with `*`, the list of values of all elements. As in a deny, a value outside
 * an array is read as an array of one, and an array that the path does not expect is entered: a
 * schema may accept both, and a value in another wrapping must be asked about too.
 */
function valueAt(value: unknown, segments: readonly string[], at: number): unknown {
  if (at >= segments.length) return value;
  const segment = segments[at] as string;
  if (Array.isArray(value)) {
    if (segment === '*') return valuesAt(value, segments, at + 1);
    const place = /^(?:0|[1-9]\d{0,9})$/.test(segment) ? Number(segment) : value.length;
    if (place < value.length) return valueAt(value[place], segments, at + 1);
    const values = valuesAt(value, segments, at);
    return values.length === 0 ? undefined : values;
  }
  if (isJsonObject(value) && Object.hasOwn(value, segment))
    return valueAt(value[segment], segments, at + 1);
  if (value === undefined || (segment !== '*' && segment !== '0')) return undefined;
  const only = valueAt(value, segments, at + 1);
  return segment === '0' || only === undefined ? only : [only];
}

function valuesAt(items: readonly unknown[], segments: readonly string[], at: number): unknown[] {
  return items.map((item) => valueAt(item, segments, at)).filter((value) => value !== undefined);
}

// What a call knows of its tool's attributes.

/** What the tool's `attributes` have answered about an input. */
interface KnownAttributes {
  readonly input: JsonObject;
  readonly answers: ReadonlyMap<string, JsonValue | undefined>;
  /** The paths whose answers had to be waited for. */
  readonly later: ReadonlySet<string>;
  /** The parse of the input that was asked about, if it had to be waited for. */
  readonly parse: { readonly value: unknown } | undefined;
}

/** The answers, until the call has waited for something else. */
export const knownAttributes = new Slot<KnownAttributes>();

/** The input for which the attributes that only shadow rules read could not be asked. */
const unannouncedAttributes = new Slot<JsonObject>();

export function answersOf({ extra }: Call): KnownAttributes | undefined {
  return extra === undefined ? undefined : knownAttributes.of(extra);
}

/** Whether the attributes that a rule reads have been asked, as far as the tool declares them. */
export function hasAttributes(call: FoundCall, paths: readonly string[]): boolean {
  const { attributes } = call.entry.internals;
  if (attributes === undefined || paths.length === 0) return true;
  const answers = answersOf(call)?.answers;
  return paths.every((path) => !attributes.has(path) || answers?.has(path) === true);
}
