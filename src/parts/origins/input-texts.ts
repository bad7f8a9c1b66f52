/** Takes the texts out of an input, in each form in which an output may repeat them. */
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { JsonTexts, maxDepth, unread } from './json-texts.ts';
import { withoutLeafEnds } from './text.ts';

/** The texts of an input. */
export interface InputTexts {
  readonly leaves: readonly string[];
  /** Whether these are all. Otherwise some could not be read within the bounds. */
  readonly isComplete: boolean;
}

/** Most places that are percent-encoded. */
const maxEncoded = 20_000;

/**
 * The strings, numbers and keys of an input, each key once. A text that is JSON is followed by what
 * it says, and a text with percent-encoding by the text that is encoded.
 */
export function inputTexts(input: JsonValue): InputTexts {
  const texts = new JsonTexts();
  const leaves: string[] = [];
  const keys = new Set<string>();
  let isComplete = true;
  let encoded = 0;
  const decoded = (run: string): string => {
    if (++encoded > maxEncoded) return run;
    return Buffer.from(run.replaceAll('%', ''), 'hex').toString();
  };
  const take = (text: string): void => {
    if (text === '') return;
    leaves.push(withoutLeafEnds(text));
    if (!text.includes('%')) return;
    const plain = text.replace(/(?:%[\da-f]{2})+/gi, decoded);
    if (plain !== text) leaves.push(withoutLeafEnds(plain));
  };
  const walk = (value: JsonValue, depth: number): void => {
    if (typeof value === 'string') {
      take(value);
      const parsed = texts.read(value);
      if (parsed === unread) isComplete = false;
      else if (parsed !== undefined) walk(parsed, depth + 1);
    } else if (typeof value === 'number') leaves.push(String(value));
    else if (typeof value !== 'object' || value === null) return;
    else if (depth >= maxDepth) isComplete = false;
    else if (Array.isArray(value)) for (const item of value) walk(item as JsonValue, depth + 1);
    else if (isJsonObject(value))
      for (const key of Object.keys(value)) {
        keys.add(key);
        walk(value[key] as JsonValue, depth + 1);
      }
  };
  walk(input, 0);
  for (const key of keys) take(key);
  return { leaves, isComplete: isComplete && encoded <= maxEncoded };
}
