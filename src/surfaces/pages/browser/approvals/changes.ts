/** What an edit changes, field by field. */
import type { JsonObject, JsonValue } from '../../../../values/json/value.ts';
import { visibleJson, visibleText } from '../parts/visible.ts';
import { type DiffLine, diffLines } from './input-diff.ts';

/** A field that an edit changes. */
export interface Change {
  readonly name: string;
  /** What happened to the field. */
  readonly what: 'changed' | 'added' | 'left out';
  readonly lines: readonly DiffLine[];
}

/** The fields that differ, by their names. */
export function changesOf(asked: JsonObject, input: JsonObject): Change[] {
  const names = new Set([...Object.keys(asked), ...Object.keys(input)]);
  return [...names].flatMap((name): Change[] => {
    const before = Object.hasOwn(asked, name) ? (asked[name] as JsonValue) : undefined;
    const after = Object.hasOwn(input, name) ? (input[name] as JsonValue) : undefined;
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    const given = [before, after].filter((one) => one !== undefined);
    // Texts are compared as texts, so that no quotes are in the way. With escapes in them they are
    // JSON, where an escape differs from a text that only looks like one.
    const isText =
      given.every((one) => typeof one === 'string' && visibleText(one) === one) &&
      given.some((one) => String(one).includes('\n'));
    const textOf = (value: JsonValue): string => (isText ? String(value) : visibleJson(value));
    const all = (kind: 'gone' | 'new', value: JsonValue): DiffLine[] =>
      textOf(value)
        .split('\n')
        .map((text) => ({ kind, text }));
    if (after === undefined)
      return [{ name, what: 'left out', lines: all('gone', before ?? null) }];
    if (before === undefined) return [{ name, what: 'added', lines: all('new', after) }];
    return [{ name, what: 'changed', lines: diffLines(textOf(before), textOf(after)) }];
  });
}
