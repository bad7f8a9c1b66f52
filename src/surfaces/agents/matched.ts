/** Says in words what about a call made a rule match, for the question or the denial. */

import type { CompiledRule } from '../../core/rules/rule.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { cleanLine } from '../shared/outside-text.ts';
import { type FileKind, kindWords } from './files/file-kind.ts';

/** What was found out about a call. */
export interface Known {
  readonly tool: string;
  readonly input: JsonObject;
  /** What the agent's tool told the rules, by the member of the input. */
  readonly facts: ReadonlyMap<string, JsonObject>;
}

const maxTexts = 5;
const maxChars = 240;

type Condition = CompiledRule['when'][number];

/**
 * One line for each reason, of the rule that decided and of others with the same effect. What the
 * agent wrote is cleaned and shortened.
 */
export function matched(rules: readonly CompiledRule[], ruleId: string, known: Known): string {
  const deciding = rules.find(({ id }) => id === ruleId);
  if (deciding === undefined) return '';
  const others = rules.filter(
    ({ effect, shadow, id }) => effect === deciding.effect && !shadow && id !== ruleId,
  );
  const texts = new Set([deciding, ...others].flatMap((rule) => textsOf(rule, known)));
  return [...texts]
    .slice(0, maxTexts)
    .map((text) => cleanLine(text, maxChars))
    .join('\n');
}

/** Nothing if the rule does not match. */
function textsOf({ names, when }: CompiledRule, known: Known): readonly string[] {
  if (names !== undefined && !names.includes(known.tool)) return [];
  const texts: string[] = [];
  for (const condition of when) {
    const values = valuesAt(condition, known).filter((value) => passes(condition, value));
    if (values.length === 0) return [];
    texts.push(...values.flatMap((value) => say(condition, value, known)));
  }
  return texts;
}

function passes({ test }: Condition, value: JsonValue): boolean {
  return test.ofArguments === undefined && test.judge(value, value, {}) === true;
}

/** The values at the path of a condition. */
function valuesAt({ attribute, path }: Condition, { input, facts }: Known): readonly JsonValue[] {
  const known = attribute === undefined ? undefined : facts.get(attribute.of);
  const way = known === undefined ? path : (attribute?.path ?? []);
  let values: JsonValue[] = [known ?? input];
  for (const part of way)
    values = values.flatMap((value): JsonValue[] => {
      if (part === '*') return Array.isArray(value) ? value : [];
      return isJsonObject(value) && Object.hasOwn(value, part) ? [value[part] as JsonValue] : [];
    });
  return values.flat();
}

function say({ attribute, path }: Condition, value: JsonValue, known: Known): readonly string[] {
  const facts = attribute === undefined ? undefined : known.facts.get(attribute.of);
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  if (attribute === undefined || facts === undefined) return [`\`${path.join('.')}\` is ${shown}`];
  const { of } = attribute;
  const [about = ''] = attribute.path;
  const file = Array.isArray(facts.path) ? String(facts.path[0]) : '';
  switch (about) {
    case 'does':
    case 'kinds':
    case 'changes':
      return textsIn(isJsonObject(facts.because) ? facts.because[shown] : undefined);
    case 'unclear':
      return textsIn(facts.why);
    case 'kind':
      return Object.hasOwn(kindWords, shown) && shown !== 'ordinary'
        ? [`\`${file}\` is ${kindWords[shown as FileKind]}`]
        : [];
    case 'inside':
      return [`\`${file}\` is ${value === true ? 'in' : 'outside of'} the project`];
    case 'hosts':
    case 'host':
      return [shown === '' ? 'the address has no host' : `it reaches the host \`${shown}\``];
    case 'outside':
    case 'writesOutside':
      return [`it names \`${shown}\`, outside of the project`];
    case 'paths':
    case 'path':
      return [`it names \`${shown}\``];
    case 'commands':
      return [`it runs \`${shown}\``];
    default:
      return [`\`${of}@${attribute.path.join('.')}\` is ${shown}`];
  }
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
