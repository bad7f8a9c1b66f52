/**
 * Asks the tool's `attributes` before the rules: what only the host knows about a value of the
 * input. A function that throws, takes too long or answers no JSON denies the call.
 */
import { copyJson, deepFreeze, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { ignoreRejection, isThenable } from '../maybe-promise.ts';
import type { FoundCall } from '../state/call.ts';
import type { ReadAttributes } from '../tool/attributes.ts';
import { freshParse } from './fresh-parse.ts';
import { guarded, nonsense } from './guarded.ts';
import type { Gate, Judge, Tally } from './tally.ts';

const gate: Gate = { source: 'tool', what: 'attributes', id: undefined, allowed: undefined };
const limits = { maxDepth: 32, maxValues: 100_000 };

/**
 * The gate that fills in the attributes.
 * @param wanted the attributes that some rule or policy of the tool reads
 */
export function attributeJudge(wanted: ReadAttributes): Judge {
  const run = (call: FoundCall): unknown => {
    const input = freshParse(call);
    return input instanceof Promise
      ? input.then((own) => askAll(call, wanted, own))
      : askAll(call, wanted, input);
  };
  return (call, tally) => {
    const known = call.extra?.attributes;
    // A call that is judged again asks again only if a person has changed its input.
    if (known?.input === call.canonical) return undefined;
    if (tally.steps !== undefined && call.parsed === undefined) return undefined;
    return guarded(call, tally, gate, run, keep);
  };
}

type Answer = readonly [path: string, answer: unknown];

/** Asks side by side. A value that is not there is not asked about. */
function askAll(
  call: FoundCall,
  wanted: ReadAttributes,
  input: unknown,
): readonly Answer[] | Promise<readonly Answer[]> {
  const context = call.info();
  const answers: Answer[] = [];
  try {
    for (const [path, { segments, ask }] of wanted) {
      const value = valueAt(input, segments, 0);
      answers.push([path, value === undefined ? undefined : ask(value, context)]);
    }
  } catch (error) {
    // The call is denied for this error. What the others may reject with later adds nothing.
    for (const [, answer] of answers) ignoreRejection(answer);
    throw error;
  }
  if (!answers.some(([, answer]) => isThenable(answer))) return answers;
  return Promise.all(answers.map(async ([path, answer]): Promise<Answer> => [path, await answer]));
}

function keep(call: FoundCall, tally: Tally, _gate: Gate, given: unknown): void {
  const answers = new Map<string, JsonValue | undefined>();
  for (const [path, answer] of given as readonly Answer[]) {
    const copy = answer === undefined ? undefined : copyJson(answer, limits);
    if (copy?.ok === false)
      return nonsense(call, tally, gate, `JSON data about \`${path}\``, answer);
    answers.set(path, deepFreeze(copy?.value));
  }
  call.more.attributes = { input: call.canonical, answers };
}

/** The attributes as policies get them; the paths without an answer are left out. */
export function attributesOf(call: FoundCall): JsonObject {
  const answers = call.extra?.attributes?.answers;
  if (answers === undefined) return noAttributes;
  const known = [...answers].filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return Object.freeze(Object.fromEntries(known));
}

/** Shared, since every question to a policy has one. */
const noAttributes: JsonObject = Object.freeze({});

/** The value at a path; with `*`, the list of values of all elements. */
function valueAt(value: unknown, segments: readonly string[], at: number): unknown {
  if (at >= segments.length) return value;
  const segment = segments[at] as string;
  if (Array.isArray(value)) {
    if (segment === '*')
      return value
        .map((item) => valueAt(item, segments, at + 1))
        .filter((item) => item !== undefined);
    const place = /^(?:0|[1-9]\d{0,9})$/.test(segment) ? Number(segment) : value.length;
    return place < value.length ? valueAt(value[place], segments, at + 1) : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, segment)
    ? valueAt(value[segment], segments, at + 1)
    : undefined;
}
