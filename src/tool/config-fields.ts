/**
 * Readers of the single fields of a definition's config. Each throws for a value of the wrong form.
 */
import { readPrompt } from '../approval/request.ts';
import { describe, type MisuseError } from '../errors.ts';
import type { JsonPrimitive } from '../json.ts';
import { readOptions } from '../options.ts';
import type { ToolAnnotations } from '../tool-summary.ts';
import { isDefinition, longestTimeoutMs, type ToolInternals } from './definition.ts';
import type { FactRule } from './tool-config.ts';

/** A config as it was given, with its types forgotten. */
export type LooseConfig = { readonly [key: string]: unknown };

/** The config of one tool, and how its faults are worded. */
export interface ReadConfig {
  readonly config: LooseConfig;
  /** Begins every message: names the tool. */
  readonly where: string;
  /** The error for a field that is not as expected. */
  readonly fault: (field: string, expected: string) => MisuseError;
}

const none: readonly never[] = Object.freeze([]);
const noAnnotations: ToolAnnotations = Object.freeze({});
const annotationNames = ['readOnly', 'destructive', 'idempotent', 'openWorld'];

/** The wording of an unknown member of the config or of one of its fields. */
export const fieldWording = { code: 'invalid_definition', noun: 'field' } as const;

export function readText({ config, fault }: ReadConfig, field: string): string | undefined {
  const value = config[field];
  if (value !== undefined && typeof value !== 'string') throw fault(field, 'a string');
  return value;
}

export function readMilliseconds({ config, fault }: ReadConfig, field: string): number | undefined {
  const value = config[field];
  if (value === undefined) return undefined;
  if (!(typeof value === 'number' && value > 0 && value <= longestTimeoutMs))
    throw fault(field, `a number of milliseconds above 0 and at most ${longestTimeoutMs}`);
  return value;
}

export function readCount({ config, fault }: ReadConfig, field: string): number | undefined {
  const value = config[field];
  if (value === undefined) return undefined;
  if (!(Number.isInteger(value) && (value as number) > 0)) throw fault(field, 'a positive integer');
  return value as number;
}

/** One of two words. */
export function readChoice<const A extends string, const B extends string>(
  { config, fault }: ReadConfig,
  field: string,
  one: A,
  other: B,
): A | B | undefined {
  const value = config[field];
  if (value !== undefined && value !== one && value !== other)
    throw fault(field, `"${one}" or "${other}"`);
  return value as A | B | undefined;
}

export function readAnnotations({ config, where, fault }: ReadConfig): ToolAnnotations {
  const value = config.annotations;
  if (value === undefined) return noAnnotations;
  if (typeof value !== 'object' || value === null)
    throw fault('annotations', 'an object of booleans');
  const given = readOptions(`${where}: annotations`, value, annotationNames, fieldWording);
  const kept: Record<string, boolean> = {};
  for (const [key, item] of Object.entries(given)) {
    if (item === undefined) continue;
    if (typeof item !== 'boolean')
      throw fault('annotations', `an object of booleans (\`${key}\` is ${describe(item)})`);
    kept[key] = item;
  }
  return Object.freeze(kept);
}

export function readStrings({ config, fault }: ReadConfig, field: string): readonly string[] {
  const value = config[field];
  if (value === undefined) return none;
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string' || item === ''))
    throw fault(field, 'an array of non-empty strings');
  return Object.freeze([...value] as string[]);
}

export function readUses({ config, fault }: ReadConfig): readonly string[] {
  const value = config.uses;
  if (value === undefined) return none;
  const expected = 'an array of tool names or definitions';
  if (!Array.isArray(value)) throw fault('uses', expected);
  return Object.freeze(
    value.map((item: unknown) => {
      if (typeof item === 'string' && item !== '') return item;
      if (isDefinition(item)) return item.name;
      throw fault('uses', expected);
    }),
  );
}

export function readFactRules({ config, where, fault }: ReadConfig): readonly FactRule[] {
  const value = config.requires;
  if (value === undefined) return none;
  const expected = 'an array of { fact, equals } or { fact, in: [...] }';
  if (!Array.isArray(value)) throw fault('requires', expected);
  const names = ['fact', 'equals', 'in'];
  return Object.freeze(
    value.map((one: unknown): FactRule => {
      const rule: { fact?: unknown; equals?: unknown; in?: unknown } = readOptions(
        `${where}: requires`,
        one as object,
        names,
        fieldWording,
      );
      if (typeof rule.fact !== 'string' || rule.fact === '') throw fault('requires', expected);
      if (Array.isArray(rule.in) && rule.equals === undefined && rule.in.every(isPrimitive))
        return Object.freeze({ fact: rule.fact, in: Object.freeze([...rule.in]) });
      if (rule.in === undefined && isPrimitive(rule.equals))
        return Object.freeze({ fact: rule.fact, equals: rule.equals });
      throw fault('requires', expected);
    }),
  );
}

function isPrimitive(value: unknown): value is JsonPrimitive {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  );
}

export function readApproval({ config, fault }: ReadConfig): ToolInternals['requiresApproval'] {
  const value = config.requiresApproval;
  if (value === undefined) return false;
  if (typeof value === 'boolean' || typeof value === 'function')
    return value as ToolInternals['requiresApproval'];
  const prompt = readPrompt(value);
  if (prompt === undefined)
    throw fault(
      'requiresApproval',
      'a boolean, { title, message?, risk? }, or a function that returns either',
    );
  return prompt;
}
